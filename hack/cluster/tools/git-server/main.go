// Command git-server serves bare Git repositories over HTTPS, for tests.
//
// Repositories below ROOT/public may be read by anybody; those below ROOT/private, and every push,
// need the one user's name and password. The protocol itself is Git's own `git http-backend`.
package main

import (
	"crypto/subtle"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// maxBody bounds a request body that arrives in chunks, which CGI cannot take as a stream.
const maxBody = 256 << 20

type server struct {
	root, user, password string
	backend              string
}

func main() {
	address := flag.String("address", "127.0.0.1:8443", "where to listen")
	certificate := flag.String("cert", "", "TLS certificate file")
	key := flag.String("key", "", "TLS key file")
	root := flag.String("root", "", "directory that holds public/ and private/")
	user := flag.String("user", "git", "name that private repositories and pushes need")
	passwordFile := flag.String("password-file", "", "file with the password")
	flag.Parse()

	s, err := newServer(*root, *user, *passwordFile)
	if err != nil {
		log.Fatal(err)
	}
	listener := &http.Server{Addr: *address, Handler: s, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(listener.ListenAndServeTLS(*certificate, *key))
}

func newServer(root, user, passwordFile string) (*server, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	password, err := os.ReadFile(passwordFile)
	if err != nil {
		return nil, fmt.Errorf("read the password: %w", err)
	}
	execPath, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("ask git for its programs: %w", err)
	}
	return &server{
		root:     root,
		user:     user,
		password: strings.TrimSpace(string(password)),
		backend:  filepath.Join(strings.TrimSpace(string(execPath)), "git-http-backend"),
	}, nil
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := &recorder{ResponseWriter: w, status: http.StatusOK}
	s.serve(answer, r)
	log.Printf("%s %s %d", r.Method, r.URL.RequestURI(), answer.status)
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	clean := path.Clean("/" + r.URL.Path)
	public := strings.HasPrefix(clean, "/public/")
	if !public && !strings.HasPrefix(clean, "/private/") {
		http.NotFound(w, r)
		return
	}
	environment := []string{
		"GIT_PROJECT_ROOT=" + s.root, "GIT_HTTP_EXPORT_ALL=1", "HOME=/nonexistent",
		// The directories may belong to whoever made them.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}
	push := r.URL.Query().Get("service") == "git-receive-pack" || path.Base(clean) == "git-receive-pack"
	if push || !public {
		if !s.allowed(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "authentication required", http.StatusUnauthorized)
			return
		}
		environment = append(environment, "REMOTE_USER="+s.user)
	}
	if v := r.Header.Get("Git-Protocol"); v != "" {
		environment = append(environment, "GIT_PROTOCOL="+v)
	}
	if err := spool(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Header.Del("Authorization")
	handler := cgi.Handler{Path: s.backend, Root: "/", Env: environment}
	handler.ServeHTTP(w, r)
}

func (s *server) allowed(r *http.Request) bool {
	user, password, ok := r.BasicAuth()
	return ok && subtle.ConstantTimeCompare([]byte(user), []byte(s.user)) == 1 &&
		subtle.ConstantTimeCompare([]byte(password), []byte(s.password)) == 1
}

// spool gives a chunked request a length, by way of an unlinked file.
func spool(r *http.Request) error {
	if r.ContentLength >= 0 {
		return nil
	}
	file, err := os.CreateTemp("", "git-server-")
	if err != nil {
		return err
	}
	os.Remove(file.Name())
	n, err := io.Copy(file, io.LimitReader(r.Body, maxBody+1))
	if err == nil && n > maxBody {
		err = fmt.Errorf("request body over %d bytes", maxBody)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return err
	}
	r.Body, r.ContentLength, r.TransferEncoding = file, n, nil
	return nil
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}
