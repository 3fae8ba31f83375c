"""Component test of runtime-cloud-runner: see harness.py. Run by run.sh."""

import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from harness import (GIT_PASSWORD, GIT_USER, REPOSITORY, RUNNER, TOKEN, Pod, Repository, Servers, Stack, Tools, run,
                     session_members, sha256)

SECRET = 'p4ss "word"/with+odd=chars&more'
PROGRAM = """name: shop
runtime: yaml
config:
  greeting: {type: string}
  token: {type: string, secret: true}
outputs:
  hello: ${greeting}
  token: ${token}
"""
# Files in place of a cluster: real resources of a real provider, without an API server.
KUBERNETES = """name: shop
runtime: yaml
config:
  value: {type: string}
  directory: {type: string}
resources:
  provider:
    type: pulumi:providers:kubernetes
    properties: {renderYamlToDirectory: "${directory}", enableConfigMapMutable: true}
    options: {version: VERSION}
  app:
    type: kubernetes:core/v1:ConfigMap
    properties:
      metadata: {name: app, namespace: default}
      data: {value: "${value}"EXTRA}
    options: {provider: "${provider}", version: VERSION}
outputs:
  name: ${app.metadata.name}
"""


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="rco-runner-"))
        cls.servers = Servers(cls.directory)
        cls.gateway = cls.servers.gateway
        cls.tools = Tools(cls.directory)
        cls.repository = Repository(cls.servers, "shop")
        cls.commit = cls.repository.commit({"infra/Pulumi.yaml": PROGRAM, "README": "x"})
        cls.program = (cls.repository.url, "infra", cls.commit)

    @classmethod
    def tearDownClass(cls):
        cls.servers.stop()
        if not os.environ.get("RCO_KEEP"):
            shutil.rmtree(cls.directory, ignore_errors=True)

    def setUp(self):
        self.gateway.reset()
        self.stack = Stack(self.directory)
        self.pods = []

    def tearDown(self):
        for pod in self.pods:
            pod.stop()

    def pod(self, program=None, **more):
        pod = Pod(self.servers, self.tools, more.pop("stack", self.stack), program or self.program, **more)
        self.pods.append(pod)
        return pod

    def inputs(self, greeting="hello", token=SECRET):
        return {"configs": [("shop:greeting", greeting)],
                "secrets": [("shop:token", token), ("$EXTRA_TOKEN", "extra-canary-99")]}

    def plan(self, **more):
        """A plan that succeeds; returns pod, receipt and plan artifact."""
        pod = self.pod(**{**self.inputs(), **more})
        self.assertEqual(pod.all(), 0, pod.output("engine") + pod.output("report"))
        receipt = self.gateway.receipts[-1]
        self.assertEqual(receipt["result"], "Succeeded", receipt.get("failure"))
        return pod, receipt, self.gateway.artifact("plan")

    def apply_pod(self, receipt, bundle, **more):
        expected = {key: receipt[key] for key in (
            "project", "workspaceDigest", "planFileDigest", "baseStateDigest", "operationsDigest",
            "inputsHash", "engineVersion", "plugins") if key in receipt}
        expected.update(commit=receipt["programVersion"], planFileSize=len(bundle))
        expected.update(more.pop("expect", {}))
        pod = self.pod(**{**self.inputs(), "phase": "apply", "expected": expected, **more})
        pod.mount_plan(bundle)
        self.gateway.reset()
        return pod

    def plan_and_apply(self, **more):
        _, receipt, bundle = self.plan(**more)
        pod = self.apply_pod(receipt, bundle, **more)
        self.assertEqual(pod.all(), 0, pod.output("engine") + pod.output("report"))
        return pod, self.gateway.receipts[-1]

    def failure(self, receipt, klass, *parts):
        self.assertEqual(receipt["result"], "Failed")
        self.assertEqual(receipt["failure"]["class"], klass, receipt["failure"])
        for part in parts:
            self.assertIn(part, receipt["failure"]["message"])

    def init_failure(self, pod, verb, klass, *parts):
        """The verb (and none before it) fails, with its reason in the termination message."""
        for name in ("fetch", "install"):
            code = pod.verb(name)
            if name == verb:
                break
            self.assertEqual(code, 0, pod.output(name))
        self.assertEqual(code, 1, pod.output(verb))
        summary = pod.summary(verb)
        self.assertEqual(summary["failure"]["class"], klass, summary)
        for part in parts:
            self.assertIn(part, summary["failure"]["message"])
        return summary

    def no_trace(self, *places):
        """No form of a secret value anywhere."""
        for value in (SECRET, "extra-canary-99", self.stack.passphrase, self.stack.hmac, TOKEN):
            forms = {value, base64.b64encode(value.encode()).decode().rstrip("="),
                     urllib.parse.quote(value), urllib.parse.quote_plus(value), json.dumps(value)[1:-1]}
            for place in places:
                for form in forms:
                    self.assertNotIn(form.encode(), place)


class MainPath(Base):
    def test_plan_and_apply_of_a_real_program(self):
        pod, receipt, bundle = self.plan()
        self.assertEqual(receipt["adds"], 1)
        self.assertEqual([r["op"] for r in receipt["resources"]], ["create"])
        self.assertEqual(receipt["programVersion"], self.commit)
        self.assertEqual(receipt["project"], "shop")
        self.assertTrue(receipt["outputsChanged"])
        self.assertEqual(receipt["planFileDigest"], sha256(bundle))
        self.assertEqual(len(receipt["plugins"]), 1)
        self.assertEqual(receipt["plugins"][0]["name"], "kubernetes")
        for key in ("inputsHash", "workspaceDigest", "baseStateDigest", "operationsDigest"):
            self.assertRegex(receipt[key], "^[0-9a-f]{64}$")
        self.assertEqual(pod.summary("report")["receipt"]["operationsDigest"], receipt["operationsDigest"])
        self.assertTrue(pod.summary("engine")["ok"])
        log = self.gateway.artifact("log").decode()
        self.assertIn("preview succeeded: 1 create", log)
        engine = log.split("--- engine ---\n")[1]
        self.assertIn(engine, pod.output("report"))  # as it came, for who follows the pod
        self.assertIn("pulumi:pulumi:Stack", self.gateway.artifact("diff").decode())
        self.assertEqual({"Bearer " + TOKEN}, self.gateway.tokens)

        apply = self.apply_pod(receipt, bundle, exportOutputs=["hello", "token", "absent"])
        self.assertEqual(apply.all(), 0, apply.output("engine") + apply.output("report"))
        done = self.gateway.receipts[-1]
        self.assertEqual(done["result"], "Succeeded", done.get("failure"))
        self.assertEqual((done["adds"], done["changes"]), (1, 0))
        self.assertEqual(done["outputs"], {"hello": "hello"})  # never a secret one
        self.assertTrue(done["mayHaveChanged"])
        self.assertNotEqual(done["stateDigest"], done["baseStateDigest"])
        self.assertEqual(done["baseStateDigest"], receipt["baseStateDigest"])
        self.assertEqual(done["inputsHash"], receipt["inputsHash"])
        self.assertEqual(done["workspaceDigest"], receipt["workspaceDigest"])
        self.assertEqual(json.loads(self.gateway.artifact("outputs"))["hello"], "hello")
        self.assertIn("deployment", json.loads(self.gateway.artifact("state")))

        # A second plan of the same finds nothing to do, and its apply says so.
        self.gateway.reset()
        _, again, bundle = self.plan()
        self.assertEqual((again["adds"], again["changes"], again["sames"]), (0, 0, 1))
        self.assertFalse(again["outputsChanged"])
        self.assertEqual(again["baseStateDigest"], done["stateDigest"])
        pod = self.apply_pod(again, bundle)
        self.assertEqual(pod.all(), 0)
        self.assertEqual(self.gateway.receipts[-1]["result"], "NoChanges")
        self.assertFalse(self.gateway.receipts[-1]["mayHaveChanged"])

    def test_a_changed_secret_output_counts_as_changed_outputs(self):
        self.plan_and_apply()
        self.gateway.reset()
        _, receipt, _ = self.plan(**self.inputs(token="another-secret-canary"))
        self.assertEqual(receipt["changes"], 0)
        self.assertTrue(receipt["outputsChanged"])

    def test_no_secret_value_reaches_anything_that_is_shared(self):
        # A program that finds its secrets in another way: Pulumi does not know that they are secret.
        leak = self.directory / "leak"
        leak.write_text(f"EXTRA_TOKEN=extra-canary-99;password={SECRET};{self.stack.passphrase}\n")
        program = PROGRAM + "  leak: {fn::readFile: %s}\n" % leak
        program += "  coded: {fn::toBase64: {fn::readFile: %s}}\n" % leak
        commit = self.repository.commit({"infra/Pulumi.yaml": program})
        pod, receipt, bundle = self.plan(program=(self.repository.url, "infra", commit))
        apply = self.apply_pod(receipt, bundle, program=(self.repository.url, "infra", commit),
                               exportOutputs=["token", "leak", "coded"])
        parts = self.gateway.artifact
        places = [json.dumps(receipt).encode()]
        for one in (pod, apply):
            if one is apply:
                self.assertEqual(apply.all(), 0, apply.output("engine"))
                places += [json.dumps(self.gateway.receipts[-1]).encode(), parts("log"), parts("outputs")]
            for name in ("fetch", "install", "engine", "report"):
                places += [one.output(name).encode(), json.dumps(one.summary(name)).encode()]
            places += [f.read_bytes() for f in (one.root / "stream").iterdir()
                       if f.name in ("events", "stderr", "done", "outputs")]
        self.no_trace(*places)
        outputs = self.gateway.receipts[-1]["outputs"]
        self.assertNotIn("token", outputs)
        self.assertEqual(outputs["leak"], "EXTRA_TOKEN=[masked];password=[masked];[masked]\n")
        self.assertIn("[masked]", outputs["coded"])

    def test_resources_of_a_real_provider_are_counted_and_changed(self):
        directory = tempfile.mkdtemp(dir=self.directory)
        text = KUBERNETES.replace("VERSION", self.tools.kubernetes)
        commit = self.repository.commit({"k8s/Pulumi.yaml": text.replace("EXTRA", "")})
        program = (self.repository.url, "k8s", commit)
        inputs = {"program": program, "secrets": [],
                  "configs": [("shop:value", "one"), ("shop:directory", directory)]}
        _, done = self.plan_and_apply(**inputs)
        self.assertEqual((done["result"], done["adds"]), ("Succeeded", 3), done)
        self.assertIn("value: one", run("sh", "-c", f"cat {directory}/*/*.yaml"))

        self.gateway.reset()
        inputs["configs"][0] = ("shop:value", "two")
        _, receipt, bundle = self.plan(**inputs)
        self.assertEqual((receipt["adds"], receipt["changes"], receipt["replaces"]), (0, 1, 0), receipt)
        self.assertEqual(receipt["types"], [{"type": "kubernetes:core/v1:ConfigMap", "changes": 1}])
        diff = self.gateway.artifact("diff").decode()
        self.assertIn('data.value: "one" => "two"', diff)
        apply = self.apply_pod(receipt, bundle, **inputs)
        self.assertEqual(apply.all(), 0)
        self.assertEqual((self.gateway.receipts[-1]["changes"], self.gateway.receipts[-1]["result"]),
                         (1, "Succeeded"))

        self.gateway.reset()
        commit = self.repository.commit({"k8s/Pulumi.yaml": text.replace("EXTRA", "").replace(
            "name: app,", "name: renamed,")})
        inputs["program"] = (self.repository.url, "k8s", commit)
        _, receipt, bundle = self.plan(**inputs)
        self.assertEqual((receipt["adds"], receipt["changes"], receipt["deletes"], receipt["replaces"]),
                         (0, 0, 0, 1), receipt)
        self.assertEqual([r["op"] for r in receipt["resources"]], ["replace"])
        apply = self.apply_pod(receipt, bundle, **inputs)
        self.assertEqual(apply.all(), 0)
        self.assertEqual((self.gateway.receipts[-1]["replaces"], self.gateway.receipts[-1]["result"]),
                         (1, "Succeeded"))


@unittest.skipUnless(shutil.which("npm"), "npm is not installed")
class NodeJs(Base):
    """A program in JavaScript with Pulumi's host of the language; npm fetches the packages from the registry."""

    def test_a_program_in_javascript(self):
        host = run(REPOSITORY / "hack/cluster/build-tools.sh", "--path", "pulumi-language-nodejs").strip()
        shutil.copy(host, self.tools.bin)
        commit = self.repository.commit({
            "js/Pulumi.yaml": "name: shop\nruntime: nodejs\n",
            "js/package.json": json.dumps({"name": "shop", "main": "index.js",
                                           "dependencies": {"@pulumi/pulumi": "3.200.0"}}),
            "js/index.js": """
                const pulumi = require("@pulumi/pulumi");
                const config = new pulumi.Config();
                class Part extends pulumi.ComponentResource {
                    constructor(name) { super("shop:index:Part", name); this.registerOutputs(); }
                }
                new Part("one");
                console.log("the token is " + config.require("token"));
                exports.hello = config.require("greeting");
                exports.token = config.requireSecret("token");
            """})
        program = (self.repository.url, "js", commit)
        _, receipt, bundle = self.plan(program=program)
        self.assertEqual(receipt["adds"], 2, receipt)
        log = self.gateway.artifact("log").decode()
        self.assertIn("$ npm install", log)
        self.assertIn("the token is [secret]", log)
        apply = self.apply_pod(receipt, bundle, program=program, exportOutputs=["hello", "token"])
        self.assertEqual(apply.all(), 0, apply.output("engine"))
        done = self.gateway.receipts[-1]
        self.assertEqual((done["result"], done["adds"], done["outputs"]), ("Succeeded", 2, {"hello": "hello"}), done)


class Fetch(Base):
    def test_private_repository_with_basic_credentials(self):
        repository = Repository(self.servers, "private-basic", "private")
        commit = repository.commit({"Pulumi.yaml": PROGRAM})
        pod = self.pod(program=(repository.url, ".", commit))
        pod.job["git"].update(credentials=True, credentialsSecret="git-login")
        pod.write("git/username", GIT_USER + "\n")
        pod.write("git/password", GIT_PASSWORD + "\n")
        self.assertEqual(pod.verb("fetch"), 0, pod.output("fetch"))
        self.assertEqual((pod.root / "workspace/src/Pulumi.yaml").read_text(), PROGRAM)
        facts = json.loads((pod.root / "fetch/facts").read_text())
        self.assertEqual((facts["commit"], facts["project"], facts["runtime"]), (commit, "shop", "yaml"))
        config = (pod.root / "workspace/src/.git/config").read_text()
        everything = config + pod.output("fetch") + json.dumps(pod.summary("fetch"))
        self.assertNotIn(GIT_PASSWORD, everything)
        self.assertNotIn(base64.b64encode(f"{GIT_USER}:{GIT_PASSWORD}".encode()).decode(), everything)

    def test_private_repository_with_a_wrong_password(self):
        repository = Repository(self.servers, "private-wrong", "private")
        commit = repository.commit({"Pulumi.yaml": PROGRAM})
        pod = self.pod(program=(repository.url, "", commit))
        pod.job["git"].update(credentials=True, credentialsSecret="git-login")
        pod.write("git/username", GIT_USER)
        pod.write("git/password", "wrong-canary")
        self.init_failure(pod, "fetch", "Auth", "refuses the mounted credentials")
        self.assertNotIn("wrong-canary", pod.output("fetch"))

    def test_private_repository_without_credentials(self):
        repository = Repository(self.servers, "private-none", "private")
        commit = repository.commit({"Pulumi.yaml": PROGRAM})
        self.init_failure(self.pod(program=(repository.url, "", commit)), "fetch", "Auth",
                          "needs credentials")

    def test_missing_key_of_the_credentials(self):
        pod = self.pod()
        pod.job["git"].update(credentials=True, credentialsSecret="git-login")
        pod.write("git/username", GIT_USER)
        self.init_failure(pod, "fetch", "Config", "missing Secret git-login key password")

    def test_missing_ca_secret(self):
        pod = self.pod()
        (pod.root / "git-ca/ca.crt").unlink()
        self.init_failure(pod, "fetch", "Config", "missing Secret git-ca key ca.crt")

    def test_unknown_certificate(self):
        pod = self.pod()
        pod.job["git"].update(ca=False)
        self.init_failure(pod, "fetch", "Source", "certificate")

    def test_commit_that_is_nowhere(self):
        pod = self.pod(program=(self.repository.url, "infra", "1" * 40))
        self.init_failure(pod, "fetch", "Source", "1" * 40, "is in no branch or tag")

    def test_repository_that_does_not_exist(self):
        url = self.servers.url + "/git/public/nothing.git"
        self.init_failure(self.pod(program=(url, "", self.commit)), "fetch", "Source", "nothing.git")

    def test_commit_that_is_no_branch_tip_is_found_by_a_full_fetch(self):
        repository = Repository(self.servers, "old")
        old = repository.commit({"Pulumi.yaml": PROGRAM})
        repository.commit({"Pulumi.yaml": PROGRAM + "# newer\n"})
        run("git", "-C", repository.bare, "config", "uploadpack.allowAnySHA1InWant", "false")
        pod = self.pod(program=(repository.url, "", old))
        self.assertEqual(pod.verb("fetch"), 0, pod.output("fetch"))
        self.assertEqual((pod.root / "workspace/src/Pulumi.yaml").read_text(), PROGRAM)

    def test_redirects_are_not_followed(self):
        url = self.servers.url + "/git/moved/shop.git"
        self.init_failure(self.pod(program=(url, "infra", self.commit)), "fetch", "Source", "redirect")

    def test_urls_and_commits_that_are_refused(self):
        for url, part in ((f"file://{self.repository.bare}", "only https"), ("http://localhost/x", "only https"),
                          ("ext::sh -c touch% /tmp/x", "only https"), ("https://user:pw@localhost/x", "user name"),
                          ("https://-x/y", "host"), ("ssh://-oProxyCommand=x/y", "host"),
                          ("ssh://git:pw@localhost/x", "password"), ("https://localhost/a b", "character")):
            with self.subTest(url=url):
                self.init_failure(self.pod(program=(url, "", self.commit)), "fetch", "Source", part)
        for commit in ("main", self.commit[:12], self.commit.upper(), "--upload-pack=x"):
            with self.subTest(commit=commit):
                self.init_failure(self.pod(program=(self.repository.url, "infra", commit)), "fetch", "Source",
                                  "not a full commit id")

    def test_paths_that_are_refused(self):
        repository = Repository(self.servers, "links")
        commit = repository.commit({"real/Pulumi.yaml": PROGRAM, "out": ("/etc",), "in": ("real",),
                                    "linked/Pulumi.yaml": ("../real/Pulumi.yaml",), "empty/x": "",
                                    "bad/Pulumi.yaml": "name: a b\nruntime: yaml\n", "file": "x"})
        for path, part in (("..", "leaves the repository"), ("real/../../x", "leaves the repository"),
                           ("out", "symbolic link"), ("in", "symbolic link"), ("linked", "symbolic link"),
                           ("empty", "holds no Pulumi.yaml"), ("absent", "does not exist"),
                           ("bad", "`name` must be"), ("file", "not a directory")):
            with self.subTest(path=path):
                self.init_failure(self.pod(program=(repository.url, path, commit)), "fetch", "Source", part)

    def test_hooks_filters_and_submodules_of_a_repository_do_nothing(self):
        repository = Repository(self.servers, "hostile")
        mark = self.directory / "mark"
        commit = repository.commit({
            "Pulumi.yaml": PROGRAM, ".gitattributes": "* filter=evil\n",
            ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = ext::touch {mark}\n',
            ".gitconfig": f"[core]\n\tfsmonitor = touch {mark}\n"})
        pod = self.pod(program=(repository.url, "", commit))
        self.assertEqual(pod.verb("fetch"), 0, pod.output("fetch"))
        self.assertFalse(mark.exists())

    def test_fetch_runs_again_after_a_lost_sandbox(self):
        pod = self.pod()
        self.assertEqual(pod.verb("fetch"), 0)
        (pod.root / "workspace/src/left-over").write_text("x")
        self.assertEqual(pod.verb("fetch"), 0, pod.output("fetch"))
        self.assertFalse((pod.root / "workspace/src/left-over").exists())


class Ssh(Base):
    """A real sshd on a port of its own, for the user that runs the test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ssh = cls.directory / "ssh"
        cls.ssh.mkdir()
        for name in ("host", "user", "other"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", cls.ssh / name)
        shutil.copy(cls.ssh / "user.pub", cls.ssh / "authorized")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            cls.port = probe.getsockname()[1]
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        cls.sshd = subprocess.Popen(
            ["/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-p", str(cls.port), "-h", cls.ssh / "host"] +
            [f"-o{option}" for option in (
                "ListenAddress=127.0.0.1", f"AuthorizedKeysFile={cls.ssh}/authorized", "StrictModes=no",
                "PermitRootLogin=yes", "PasswordAuthentication=no", "KbdInteractiveAuthentication=no",
                "UsePAM=no", "PidFile=none")], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", cls.port)) == 0:
                    break
            assert time.monotonic() < end and cls.sshd.poll() is None, "sshd did not start"
            time.sleep(0.1)
        cls.program = (f"ssh://root@127.0.0.1:{cls.port}{cls.repository.bare}", "infra", cls.commit)
        key = (cls.ssh / "host.pub").read_text().split()
        cls.known = f"[127.0.0.1]:{cls.port} {key[0]} {key[1]}\n"

    @classmethod
    def tearDownClass(cls):
        cls.sshd.terminate()
        cls.sshd.wait()
        super().tearDownClass()

    def ssh_pod(self, key="user", known=None):
        pod = self.pod()
        pod.job["git"] = {"credentials": True, "credentialsSecret": "git-ssh"}
        if key:
            pod.write("git/ssh-privatekey", (self.ssh / key).read_text())
            (pod.root / "git/ssh-privatekey").chmod(0o400)
        pod.write("git/known_hosts", self.known if known is None else known)
        return pod

    def test_a_clone_with_key_and_pinned_host(self):
        pod = self.ssh_pod()
        self.assertEqual(pod.verb("fetch"), 0, pod.output("fetch"))
        self.assertEqual((pod.root / "workspace/src/infra/Pulumi.yaml").read_text(), PROGRAM)
        self.assertFalse((pod.tmp / "home/.ssh/known_hosts").exists())

    def test_a_host_that_is_not_known(self):
        self.init_failure(self.ssh_pod(known=""), "fetch", "Auth", "Host key verification failed")
        other = (self.ssh / "other.pub").read_text().split()
        self.init_failure(self.ssh_pod(known=f"[127.0.0.1]:{self.port} {other[0]} {other[1]}\n"), "fetch",
                          "Auth", "Host key verification failed")

    def test_a_key_that_is_not_accepted(self):
        self.init_failure(self.ssh_pod(key="other"), "fetch", "Auth", "Permission denied (publickey)")

    def test_missing_keys_of_the_secret(self):
        self.init_failure(self.ssh_pod(key=None), "fetch", "Config", "missing Secret git-ssh key ssh-privatekey")
        pod = self.ssh_pod()
        (pod.root / "git/known_hosts").unlink()
        self.init_failure(pod, "fetch", "Config", "missing Secret git-ssh key known_hosts")


class Install(Base):
    def test_a_runtime_that_the_image_does_not_have(self):
        commit = self.repository.commit({"js/Pulumi.yaml": "name: js\nruntime:\n  name: nodejs\n"})
        self.init_failure(self.pod(program=(self.repository.url, "js", commit)), "install", "Config",
                          "runtime is nodejs", "pulumi-language-nodejs", "runner.image")

    def test_a_plugin_that_the_image_does_not_have(self):
        text = KUBERNETES.replace("VERSION", "4.99.0").replace("EXTRA", "")
        commit = self.repository.commit({"old/Pulumi.yaml": text})
        self.init_failure(self.pod(program=(self.repository.url, "old", commit)), "install", "Config",
                          "kubernetes-4.99.0", "pluginMirror")

    def test_installers_get_the_variables_of_the_environment_and_no_secret(self):
        """runner.pod.env says where packages come from. The stand-ins write what they got, then fail."""
        fakes = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        for name, text in (("go", "env >seen; echo no such module >&2; exit 1"), ("pulumi-language-go", "exit 1")):
            (fakes / name).write_text(f"#!/bin/sh\n{text}\n")
            (fakes / name).chmod(0o755)
        commit = self.repository.commit({"go/Pulumi.yaml": "name: shop\nruntime: go\n", "go/go.mod": "module shop\n"})
        pod = self.pod(program=(self.repository.url, "go", commit), path_first=fakes,
                       env=[{"name": "GOPROXY", "value": "https://packages.example.com"}], **self.inputs())
        self.init_failure(pod, "install", "Source", "go mod download: no such module")
        seen = (pod.root / "workspace/src/go/seen").read_text().splitlines()
        self.assertIn("GOPROXY=https://packages.example.com", seen)
        self.assertIn("GOTOOLCHAIN=local", seen)
        self.assertEqual([s for s in seen if "canary" in s or "TOKEN" in s or "PASSPHRASE" in s], [])

    def test_variables_of_the_environment_that_are_the_runners_own(self):
        pod = self.pod(env=[{"name": "LD_PRELOAD", "value": "/x.so"}])
        self.init_failure(pod, "install", "Config", "LD_PRELOAD is set by the runner")

    def test_the_digest_depends_on_content_mode_and_links_and_on_nothing_else(self):
        def digest(pod):
            self.assertEqual(pod.verb("install"), 0, pod.output("install"))
            return json.loads((pod.root / "install/facts").read_text())["workspaceDigest"]

        pod = self.pod()
        self.assertEqual(pod.verb("fetch"), 0)
        src = pod.root / "workspace/src"
        first = digest(pod)
        (src / "infra/__pycache__").mkdir()
        (src / "infra/__pycache__/x.pyc").write_text("x")
        (src / ".git/x").write_text("x")
        os.utime(src / "README", (1, 1))
        self.assertEqual(digest(pod), first)
        self.assertEqual((src / "README").stat().st_mtime,
                         int(run("git", "-C", self.repository.bare, "show", "-s", "--format=%ct", self.commit)))
        other = self.pod()
        self.assertEqual(other.verb("fetch"), 0)
        self.assertEqual(digest(other), first)
        seen = {first}
        for change in (lambda: (src / "README").write_text("y"), lambda: (src / "README").chmod(0o755),
                       lambda: (src / "new").symlink_to("README"), lambda: (src / "dir").mkdir()):
            change()
            now = digest(pod)
            self.assertNotIn(now, seen)
            seen.add(now)


class Guard(Base):
    def refused(self, pod, *parts):
        self.assertEqual(pod.operate() if (pod.root / "fetch/facts").exists() else pod.all(), 0,
                         pod.output("engine"))
        receipt = self.gateway.receipts[-1]
        self.failure(receipt, "PlanStale", *parts)
        self.assertFalse(receipt.get("mayHaveChanged"))
        self.assertFalse((pod.root / "stream/events").exists(), "the engine was started")

    def test_the_base_state_changed_after_the_plan(self):
        _, receipt, bundle = self.plan()
        self.gateway.reset()
        self.plan_and_apply(**self.inputs(greeting="of somebody else"))
        self.refused(self.apply_pod(receipt, bundle), "base state", "someone else has applied")

    def test_each_component_is_compared_and_named(self):
        _, receipt, bundle = self.plan()
        other = "0" * 64
        for expect, part in (({"commit": "1" * 40}, "commit"), ({"project": "other"}, "project"),
                             ({"planFileDigest": other}, "plan file"), ({"inputsHash": other}, "secrets"),
                             ({"engineVersion": "v3.1.0"}, "engine version"), ({"plugins": []}, "plugins"),
                             ({"baseStateDigest": other}, "base state")):
            with self.subTest(expect=expect):
                self.refused(self.apply_pod(receipt, bundle, expect=expect), part)

    def test_the_first_differing_path_of_the_workspace_is_named(self):
        _, receipt, bundle = self.plan()
        pod = self.apply_pod(receipt, bundle)
        self.assertEqual(pod.verb("fetch"), 0)
        (pod.root / "workspace/src/infra/added.txt").write_text("x")
        self.assertEqual(pod.verb("install"), 0)
        self.refused(pod, "workspace", "infra/added.txt")

    def test_a_changed_secret_is_named(self):
        _, receipt, bundle = self.plan()
        self.refused(self.apply_pod(receipt, bundle, **self.inputs(token="changed-secret-1")),
                     "referenced configuration and secrets")

    def test_a_part_of_the_plan_file_is_missing(self):
        _, receipt, bundle = self.plan()
        pod = self.apply_pod(receipt, bundle)
        (pod.root / "plan/0").unlink()
        self.refused(pod, "part 0 is missing")

    def test_a_stack_that_is_gone(self):
        _, receipt, bundle = self.plan()
        pod = self.apply_pod(receipt, bundle)
        shutil.rmtree(self.stack.state / ".pulumi/stacks")
        self.refused(pod, "stack dev is gone")

    def test_a_program_that_plans_differently_violates_its_plan(self):
        directory = tempfile.mkdtemp(dir=self.directory)
        outside = pathlib.Path(directory) / "outside"
        outside.write_text("one")
        text = KUBERNETES.replace("VERSION", self.tools.kubernetes)
        text = text.replace("EXTRA", ', more: {"fn::readFile": "%s"}' % outside)
        commit = self.repository.commit({"violating/Pulumi.yaml": text})
        more = {"program": (self.repository.url, "violating", commit), "secrets": [],
                "configs": [("shop:value", "one"), ("shop:directory", directory + "/out")]}
        _, receipt, bundle = self.plan(**more)
        outside.write_text("two")
        pod = self.apply_pod(receipt, bundle, **more)
        self.assertEqual(pod.all(), 0, pod.output("engine"))
        got = self.gateway.receipts[-1]
        self.failure(got, "PlanViolation", "violates plan")
        self.assertFalse(got["mayHaveChanged"])
        self.assertEqual(got["stateDigest"], got["baseStateDigest"])


class Values(Base):
    def test_a_missing_secret(self):
        pod = self.pod(secrets=[("shop:token", None)], configs=[("shop:greeting", "x")])
        self.assertEqual(pod.all(), 0)
        self.failure(self.gateway.receipts[-1], "Config", "missing Secret dev-secrets key token (spec.secretRefs, shop:token)")

    def test_a_missing_config_map(self):
        pod = self.pod(**self.inputs())
        (pod.root / "config/0").unlink()
        self.assertEqual(pod.all(), 0)
        self.failure(self.gateway.receipts[-1], "Config", "missing ConfigMap settings key greeting")

    def test_a_config_map_that_changed_since_the_run_was_made(self):
        pod = self.pod(**self.inputs())
        pod.write("config/0", "newer")
        self.assertEqual(pod.all(), 0)
        self.failure(self.gateway.receipts[-1], "Config", "ConfigMap settings key greeting has changed")

    def test_missing_passphrase_and_hmac_key(self):
        for name, part in (("passphrase/passphrase", "missing Secret rco-dev-pass-1 key passphrase"),
                           ("hmac/key", "missing Secret rco-dev-hmac-1 key key")):
            with self.subTest(name=name):
                pod = self.pod(**self.inputs())
                (pod.root / name).unlink()
                self.assertEqual(pod.all(), 0)
                self.failure(self.gateway.receipts[-1], "Config", part)

    def test_a_wrong_passphrase(self):
        self.plan_and_apply()
        self.gateway.reset()
        pod = self.pod(**self.inputs())
        pod.write("passphrase/passphrase", "another-passphrase")
        self.assertEqual(pod.all(), 0)
        self.failure(self.gateway.receipts[-1], "Auth", "incorrect passphrase")

    def test_variables_that_are_the_runners_own(self):
        pod = self.pod(secrets=[("$LD_PRELOAD", "canary-value")], configs=[])
        self.assertEqual(pod.all(), 0)
        self.failure(self.gateway.receipts[-1], "Config", "LD_PRELOAD is set by the runner")

    def test_a_program_that_does_not_compile(self):
        """What the language host says of it, where in the program, and that it is the program's fault."""
        properties = "resources:\n  r:\n    type: kubernetes:core/v1:ConfigMap\n    properties: {dataa: {}}\n"
        for text, said in (
                ("outputs:\n  a: ${nothing}\n", '"nothing" could not be found (Pulumi.yaml line 4)'),
                (properties, "Property dataa does not exist on 'kubernetes:core/v1:ConfigMap' (Pulumi.yaml line 6)"),
                ("variables: {a: '${b}', b: '${a}'}\n", "circular dependency of variable 'a'"),
        ):
            with self.subTest(said):
                self.gateway.reset()
                commit = self.repository.commit({"broken/Pulumi.yaml": "name: shop\nruntime: yaml\n" + text})
                pod = self.pod(program=(self.repository.url, "broken", commit))
                self.assertEqual(pod.all(), 0, pod.output("engine"))
                self.failure(self.gateway.receipts[-1], "Source", said)
                self.assertIn(said.split(" (")[0], self.gateway.artifact("log").decode())

    def test_a_missing_configuration_key(self):
        pod = self.pod(secrets=[], configs=[("shop:greeting", "x")])
        self.assertEqual(pod.all(), 0)
        self.failure(self.gateway.receipts[-1], "Config", "token")


class Locks(Base):
    def lock(self, host):
        directory = self.stack.state / ".pulumi/locks/organization/shop/dev"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{host}.json").write_text(json.dumps(
            {"pid": 7, "username": "engine", "hostname": host, "timestamp": "2026-11-30T06:00:00Z"}))
        return directory

    def test_the_lock_of_an_ended_pod_is_cleared(self):
        _, receipt, bundle = self.plan()
        pod = self.apply_pod(receipt, bundle)
        self.gateway.ended_pods = ["rco-aaa-a-x1x1x", "rco-bbb-a-y2y2y"]
        directory = self.lock("rco-bbb-a-y2y2y")
        self.assertEqual(pod.all(), 0, pod.output("engine"))
        self.assertEqual(self.gateway.receipts[-1]["result"], "Succeeded", self.gateway.receipts[-1])
        self.assertEqual(list(directory.iterdir()), [])

    def test_the_lock_of_anybody_else_stays(self):
        _, receipt, bundle = self.plan()
        pod = self.apply_pod(receipt, bundle)
        self.gateway.ended_pods = ["rco-bbb-a-y2y2y"]
        directory = self.lock("rco-bbb-a-y2y2y")
        self.lock("laptop-of-somebody")
        self.assertEqual(pod.all(), 0, pod.output("engine"))
        got = self.gateway.receipts[-1]
        self.failure(got, "BackendLocked", "laptop-of-somebody", "pulumi cancel")
        self.assertFalse(got["mayHaveChanged"])
        self.assertEqual(len(list(directory.iterdir())), 2)


class GatewayProtocol(Base):
    def test_start_is_asked_for_until_it_is_answered(self):
        self.gateway.script["start"] = [(503, {"message": "not yet"}), (500, {}), (401, {})]
        pod, _, _ = self.plan()
        starts = [r for r in self.gateway.requests if r[1] == "start"]
        self.assertEqual(len(starts), 4)

    def test_a_replica_that_stands_by_is_left_for_another_at_once(self):
        standby = (503, {"message": "this replica stands by", "standby": True})
        self.gateway.script["start"] = [standby] * 6
        self.gateway.script["receipt"] = [standby] * 6
        self.plan()
        seen = list(zip([r[1] for r in self.gateway.requests], self.gateway.connections))
        starts = [port for route, port in seen if route == "start"]
        self.assertEqual(len(set(starts)), 7, "a new connection for each try")
        # What reached the leader is kept: heartbeats, artifacts and the first try of the receipt.
        first = [route for route, _ in seen].index("receipt")
        self.assertEqual({port for _, port in seen[7:first + 1]}, {starts[-1]})
        times = self.gateway.times
        asked = [t for (route, _), t in zip(seen, times) if route == "start"]
        self.assertLess(asked[-1] - asked[0], 6 * 0.25 + 1, "without the pauses of a server that is not there")

    def test_while_nobody_leads_it_asks_slowly_again(self):
        self.gateway.script["start"] = [(503, {"message": "this replica stands by", "standby": True})] * 26
        self.plan()
        asked = [t for r, t in zip(self.gateway.requests, self.gateway.times) if r[1] == "start"]
        self.assertEqual(len(asked), 27)
        pauses = [b - a for a, b in zip(asked, asked[1:])]
        self.assertLess(max(pauses[:20]), 0.6)
        self.assertGreater(max(pauses[20:]), 0.45)

    def test_a_refused_start_runs_nothing(self):
        self.gateway.script["start"] = [(409, {"message": "another pod of this run has the engine"})]
        pod = self.pod(**self.inputs())
        pod.prepare()
        self.assertEqual(pod.operate(), 1)
        self.assertIn("another pod of this run has the engine", pod.summary("engine")["failure"]["message"])
        self.assertFalse((pod.root / "stream/started").exists())
        self.assertEqual(self.gateway.receipts, [])
        self.assertFalse((self.stack.state / ".pulumi").exists())

    def test_the_receipt_is_sent_until_it_is_taken(self):
        self.gateway.script["receipt"] = [(503, {}), (500, {})]
        pod, _, _ = self.plan()
        self.assertEqual(len([r for r in self.gateway.requests if r[1] == "receipt"]), 3)

    def test_another_receipt_that_is_stored_ends_the_attempts(self):
        self.gateway.script["receipt"] = [(409, {"message": "another receipt is stored"})]
        pod = self.pod(**self.inputs())
        self.assertEqual(pod.all(), 0, pod.output("report"))
        self.assertEqual(self.gateway.receipts, [])

    def test_a_restarted_report_sends_the_same_receipt(self):
        pod = self.pod(**self.inputs())
        pod.prepare()
        self.gateway.script["receipt"] = [(503, {})] * 2
        pod.start("report")
        engine = pod.start("engine")
        pod.wait_for(lambda: any(r[1] == "receipt" for r in self.gateway.requests))
        pod.processes["report"].kill()
        pod.processes["report"].wait()
        first = json.loads((pod.root / "log/report.json").read_text())["receipt"]
        self.gateway.script.clear()
        pod.start("report")
        self.assertEqual(engine.wait(60), 0)
        pod.end_report()
        again = self.gateway.receipts[-1]
        self.assertEqual({k: first[k] for k in first if k != "truncated"},
                         {k: again[k] for k in first if k != "truncated"})
        self.gateway.artifact("plan")  # uploaded twice under one name
        self.assertEqual(len([r for r in self.gateway.requests if r[1] == "start"]), 1)

    def test_a_plan_that_the_gateway_does_not_keep_is_no_plan(self):
        self.gateway.script["artifacts/plan"] = [(413, {"message": "over the cap"})]
        pod = self.pod(**self.inputs())
        self.assertEqual(pod.all(), 0)
        self.failure(self.gateway.receipts[-1], "Internal", "could not be stored")

    def test_an_engine_that_vanishes_is_reported(self):
        pod = self.pod(**self.inputs())
        pod.prepare()
        pod.start("report")
        pod.wait_for(lambda: (pod.root / "control/go").exists())
        self.assertEqual(pod.end_report(), 0)  # the kubelet's SIGTERM after the engine's container ended
        self.failure(self.gateway.receipts[-1], "Lost", "without a result")

    def test_what_a_program_plants_in_the_shared_directory_does_no_harm(self):
        def text(path):
            path.write_text('{"ok":true,"startedAt":"' + "x" * 1000 + '"')

        for plant in (text, os.mkfifo, lambda path: path.symlink_to("../token/token"), os.mkdir,
                      lambda path: path.write_text('{"ok":true,"plugins":7,"outputs":[],"startedAt":"x"}')):
            self.gateway.reset()
            pod = self.pod(**self.inputs())
            pod.prepare()
            os.mkfifo(pod.root / "stream/events")
            (pod.root / "stream/stderr").symlink_to("/etc/passwd")
            os.mkfifo(pod.root / "stream/plan")
            plant(pod.root / "stream/done")
            pod.start("report")
            pod.wait_for(lambda: self.gateway.receipts)
            pod.end_report()
            # A result that cannot be read is none; one without substance is a failure without a message.
            self.assertIn(self.gateway.receipts[-1]["failure"]["class"], ("Lost", "Internal"))
            log = self.gateway.artifact("log")
            self.assertNotIn(b"root:", log)
            self.assertNotIn(TOKEN.encode(), log + json.dumps(self.gateway.receipts[-1]).encode())


class Faults(Base):
    """With fake_pulumi.py before the real engine."""

    def fake(self, mode, command):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="fake-", dir=self.directory))
        shutil.copy(pathlib.Path(__file__).parent / "fake_pulumi.py", directory / "pulumi")
        (directory / "mode").write_text(mode)
        (directory / "command").write_text(command)
        return directory

    def fake_plan(self, mode):
        directory = self.fake(mode, "preview")
        pod = self.pod(**self.inputs(), path_first=directory)
        (directory / "value").write_text(SECRET)
        self.assertEqual(pod.all(), 0, pod.output("engine"))
        return pod, self.gateway.receipts[-1]

    def fake_apply(self, mode, **more):
        _, receipt, bundle = self.plan()
        directory = self.fake(mode, "up")
        pod = self.apply_pod(receipt, bundle, path_first=directory, **more)
        pod.prepare()
        pod.start("report")
        pod.start("engine")
        return pod, directory

    def ended(self, pod):
        self.assertEqual(pod.processes["engine"].wait(120), 0, pod.output("engine"))
        pod.end_report()
        return self.gateway.receipts[-1]

    def test_a_program_that_prints_100_mb(self):
        pod, receipt = self.fake_plan("flood")
        self.assertEqual((receipt["result"], receipt["adds"]), ("Succeeded", 1), receipt.get("failure"))
        self.assertLess((pod.root / "stream/events").stat().st_size, 5 << 20)
        log = self.gateway.artifact("log")
        self.assertLess(len(log), 5 << 20)
        self.assertIn(b"\n0 0123456789abcdef", b"\n" + log)
        self.assertIn(b"\n499999 0123456789abcdef", log)
        self.assertRegex(log.decode(), r"\.\.\. \d+ bytes of output left out")
        self.assertTrue([a for a in receipt["artifacts"] if a["kind"] == "log"][0]["truncated"])
        self.assertLess(len(pod.output("report")), 5 << 20)

    def test_a_plan_of_many_steps_is_shown_up_to_a_cap(self):
        pod, receipt = self.fake_plan("many")
        self.assertEqual((receipt["result"], receipt["adds"]), ("Succeeded", 50_001), receipt.get("failure"))
        shown = pod.output("report")
        self.assertLess(len(shown), (4 << 20) + 4096)
        self.assertIn("... more than can be shown here; the stored log has it ...\n", shown)
        self.assertNotIn("preview succeeded: 1 create", shown)
        self.assertIn(b"preview succeeded: 1 create", self.gateway.artifact("log"))

    def test_a_program_that_prints_binary(self):
        pod, receipt = self.fake_plan("binary")
        self.assertEqual((receipt["result"], receipt["adds"]), ("Succeeded", 1), receipt.get("failure"))
        log = self.gateway.artifact("log").decode("utf-8")  # valid, whatever was printed
        self.assertFalse([c for c in log if ord(c) < 32 and c not in "\n\t"])
        self.assertIn("warning from a plugin", log)

    def test_a_secret_that_is_printed_in_pieces_and_in_other_forms(self):
        pod, receipt = self.fake_plan("secret")
        self.failure(receipt, "Resource", "cannot log in with [masked]")
        self.no_trace(*[(pod.root / "stream" / n).read_bytes() for n in ("events", "stderr", "done")],
                      self.gateway.artifact("log"), json.dumps(receipt).encode(),
                      json.dumps(pod.summary("report")).encode(), json.dumps(pod.summary("engine")).encode())
        self.assertEqual((pod.root / "stream/events").read_text().count("[masked]"), 4)

    def test_an_operation_that_nobody_knows_spoils_the_plan(self):
        _, receipt = self.fake_plan("explode")
        self.failure(receipt, "Internal", "cannot be counted", "does not know")

    def test_an_event_that_is_too_long_spoils_the_plan(self):
        _, receipt = self.fake_plan("enormous")
        self.failure(receipt, "Internal", "cannot be counted")

    def test_a_policy_violation(self):
        _, receipt = self.fake_plan("policy")
        self.failure(receipt, "Policy", "no public buckets")

    def test_sigterm_reaches_the_engine_once(self):
        pod, directory = self.fake_apply("hang")
        pod.wait_for(lambda: (directory / "running").exists())
        pod.processes["engine"].send_signal(signal.SIGTERM)
        time.sleep(0.4)
        pod.processes["engine"].send_signal(signal.SIGTERM)
        receipt = self.ended(pod)
        self.failure(receipt, "Cancelled", "cancelled while the engine was running")
        self.assertEqual((directory / "signals").read_text(), "1")
        self.assertTrue(receipt["mayHaveChanged"])
        self.assertEqual(receipt["adds"], 1)

    def test_a_cancel_of_the_operator_reaches_the_engine(self):
        pod, directory = self.fake_apply("hang")
        pod.wait_for(lambda: (directory / "running").exists())
        self.gateway.cancel = True
        receipt = self.ended(pod)
        self.failure(receipt, "Cancelled")
        self.assertEqual((directory / "signals").read_text(), "1")

    def test_the_timeout(self):
        pod, directory = self.fake_apply("hang", timeoutSeconds=3)
        receipt = self.ended(pod)
        self.failure(receipt, "Timeout", "within 3 s")
        self.assertTrue(receipt["mayHaveChanged"])

    def test_an_engine_that_does_not_end_is_killed_with_all_it_started(self):
        pod, directory = self.fake_apply("stubborn", graceSeconds=122)
        pod.wait_for(lambda: (directory / "running").exists())
        pod.processes["engine"].send_signal(signal.SIGTERM)
        receipt = self.ended(pod)
        self.failure(receipt, "Cancelled", "was killed")
        self.assertTrue(receipt["mayHaveChanged"])
        engine = int((directory / "running").read_text())
        self.assertFalse(pathlib.Path(f"/proc/{engine}").exists())
        self.assertEqual(session_members(pod.processes["engine"].pid), [])

    def test_an_apply_that_fails_only_to_write_its_history_has_applied(self):
        pod, _ = self.fake_apply("history")
        receipt = self.ended(pod)
        self.assertEqual((receipt["result"], receipt["adds"]), ("Succeeded", 1), receipt.get("failure"))

    def test_an_engine_that_is_killed(self):
        pod, _ = self.fake_apply("crash")
        receipt = self.ended(pod)
        self.failure(receipt, "Internal", "signal 9")
        self.assertTrue(receipt["mayHaveChanged"])

    def test_a_throttled_provider(self):
        pod, _ = self.fake_apply("throttled")
        receipt = self.ended(pod)
        self.failure(receipt, "ProviderThrottle", "Rate exceeded")
        self.assertIn("pulumi:pulumi:Stack", receipt["failure"]["urn"])

    def test_a_real_engine_that_waits_for_its_provider_is_cancelled(self):
        """Not the fake: a Kubernetes API server that takes connections and never answers."""
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        text = KUBERNETES.replace("VERSION", self.tools.kubernetes).replace("EXTRA", "")
        text = text.replace('{renderYamlToDirectory: "${directory}", enableConfigMapMutable: true}',
                            "{kubeconfig: '%s'}" % json.dumps({
                                "apiVersion": "v1", "kind": "Config", "current-context": "c",
                                "clusters": [{"name": "c", "cluster": {
                                    "server": "http://127.0.0.1:%d" % silent.getsockname()[1]}}],
                                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                                "users": [{"name": "u", "user": {}}]}))
        text = text.replace('  directory: {type: string}\n', "")
        commit = self.repository.commit({"silent/Pulumi.yaml": text})
        pod = self.pod(program=(self.repository.url, "silent", commit), configs=[("shop:value", "x")],
                       graceSeconds=125)
        pod.prepare()
        pod.start("report")
        pod.start("engine")
        events = pod.root / "stream/events"
        pod.wait_for(lambda: events.exists() and "providers:kubernetes" in events.read_text())
        time.sleep(1)
        pod.processes["engine"].send_signal(signal.SIGTERM)
        receipt = self.ended(pod)
        self.failure(receipt, "Cancelled", "cancelled while the engine was running")
        # One signal does not end the real engine while a provider hangs: the kill in time does.
        self.assertIn("was killed", receipt["failure"]["message"])

    def test_sigterm_before_the_start_runs_nothing(self):
        pod = self.pod(**self.inputs())
        pod.prepare()
        engine = pod.start("engine")
        time.sleep(0.5)
        engine.send_signal(signal.SIGTERM)
        self.assertEqual(engine.wait(10), 1)
        self.assertFalse(pod.summary("engine").get("started", False))
        self.assertFalse((self.stack.state / ".pulumi").exists())

    def test_an_engine_container_that_is_started_again_runs_nothing(self):
        pod = self.pod(**self.inputs())
        pod.prepare()
        pod.write("stream/started", "")
        self.assertEqual(pod.operate(), 0)
        self.failure(self.gateway.receipts[-1], "Lost", "started before")


class Usage(unittest.TestCase):
    def call(self, *argv, env=None):
        return subprocess.run([RUNNER, *argv], capture_output=True, text=True, env=env or {})

    def test_unknown_words_are_usage_errors(self):
        for argv in ((), ("deploy",), ("fetch", "--rot", "/x"), ("fetch", "--root"), ("version", "x"),
                     ("engine", "extra")):
            with self.subTest(argv=argv):
                got = self.call(*argv)
                self.assertEqual(got.returncode, 2)
                self.assertIn("usage: runtime-cloud-runner VERB", got.stderr)

    def test_help_and_version(self):
        self.assertEqual(self.call("--help").returncode, 0)
        self.assertRegex(self.call("version").stdout, r"^runtime-cloud-runner \d+\.\d+")

    def test_jobs_that_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as directory:
            log = pathlib.Path(directory) / "log"
            for job, part in ((None, "RCO_JOB is not set"), ("{", "RCO_JOB"), ('{"protocol":1}', "is missing"),
                              ('{"protocol":9,"namespace":"a","run":"b","runUid":"c","phase":"plan","stack":"s",'
                               '"program":{"repository":"r","commit":"c"},"backend":{"url":"u"}}', "protocol 9")):
                with self.subTest(job=job):
                    got = self.call("fetch", "--root", directory, "--termination-log", str(log),
                                    env={"RCO_JOB": job} if job else {})
                    self.assertEqual(got.returncode, 2, got.stderr)
                    self.assertIn(part, json.loads(log.read_text())["failure"]["message"])


if __name__ == "__main__":
    unittest.main()
