/* A web server for the quickstart: serves the files of one directory on port 8080.
 *
 *   web [DIRECTORY]      default /usr/share/nginx/html, where nginx has it too
 *
 * One connection at a time, GET and HEAD only, files up to 1 MiB with simple names. It is here
 * because a cluster without a registry has no image to show; use a real web server for real pages.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORT 8080
#define REQUEST_MAX 8192
#define FILE_MAX (1024 * 1024)
#define PATIENCE_S 5

static void stop(int signal_number)
{
    (void)signal_number;
    _exit(0);
}

static void send_all(int fd, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, data, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        data += sent;
        n -= (size_t)sent;
    }
}

static void answer(int fd, const char *status, const char *type, const char *body, size_t n,
                   bool with_body)
{
    char head[256];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                          "Connection: close\r\n\r\n",
                          status, type, n);

    send_all(fd, head, (size_t)length);
    if (with_body)
        send_all(fd, body, n);
}

static void refuse(int fd, const char *status)
{
    answer(fd, status, "text/plain", status, strlen(status), true);
}

/* Letters, digits, '-', '_' and single dots: no way out of the directory. */
static bool is_simple(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

    return name[0] != '.' && name[0] != '\0' && name[strspn(name, allowed)] == '\0' &&
           strlen(name) < 128;
}

static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');

    if (dot && strcmp(dot, ".html") == 0)
        return "text/html; charset=utf-8";
    if (dot && strcmp(dot, ".json") == 0)
        return "application/json";
    return "text/plain; charset=utf-8";
}

static void serve_file(int fd, int directory, const char *name, bool with_body)
{
    static char body[FILE_MAX];
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    size_t n = 0;
    ssize_t got = 0;

    if (file < 0 || fstat(file, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX) {
        refuse(fd, "404 Not Found");
        goto out;
    }
    while (n < sizeof body && (got = read(file, body + n, sizeof body - n)) > 0)
        n += (size_t)got;
    if (got < 0)
        refuse(fd, "500 Internal Server Error");
    else
        answer(fd, "200 OK", type_of(name), body, n, with_body);
out:
    if (file >= 0)
        close(file);
}

/* Reads up to the end of the head; false when it does not come, or is too long. */
static bool read_head(int fd, char request[REQUEST_MAX])
{
    size_t n = 0;

    while (n < REQUEST_MAX - 1) {
        ssize_t got = recv(fd, request + n, REQUEST_MAX - 1 - n, 0);

        if (got <= 0)
            return false;
        n += (size_t)got;
        request[n] = '\0';
        if (strstr(request, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void serve(int fd, int directory)
{
    char request[REQUEST_MAX];
    char *path, *end;
    bool head;

    if (!read_head(fd, request))
        return;
    head = strncmp(request, "HEAD ", 5) == 0;
    if (!head && strncmp(request, "GET ", 4) != 0) {
        refuse(fd, "405 Method Not Allowed");
        return;
    }
    path = strchr(request, ' ') + 1;
    end = path + strcspn(path, " ?\r\n");
    *end = '\0';
    if (*path == '/')
        path++;
    if (*path == '\0')
        path = "index.html";
    if (is_simple(path))
        serve_file(fd, directory, path, !head);
    else
        refuse(fd, "404 Not Found");
}

static int listen_on(int port)
{
    /* IPv6 sockets take IPv4 too; where there is no IPv6, IPv4 alone. */
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int one = 1, zero = 0;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
        if (bind(fd, (struct sockaddr *)&any6, sizeof any6) == 0 && listen(fd, 64) == 0)
            return fd;
        close(fd);
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&any4, sizeof any4) < 0 || listen(fd, 64) < 0)
        return -1;
    return fd;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "/usr/share/nginx/html";
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int directory, listener;

    if (argc > 2) {
        fprintf(stderr, "usage: web [DIRECTORY]\n");
        return 2;
    }
    /* The first process of a container has no default action for signals. */
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        fprintf(stderr, "web: %s: %s\n", path, strerror(errno));
        return 1;
    }
    listener = listen_on(PORT);
    if (listener < 0) {
        fprintf(stderr, "web: port %d: %s\n", PORT, strerror(errno));
        return 1;
    }
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0)
            continue;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        serve(fd, directory);
        /* Let the client take the answer before the socket goes. */
        shutdown(fd, SHUT_WR);
        close(fd);
    }
}
