module runtimecloud.io/hack/tools/git-server

go 1.26
