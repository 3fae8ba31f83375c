/*
 * The process that keeps a pod's namespaces alive: it sleeps, reaps orphans that a shared process
 * namespace may leave to it, and ends on SIGINT or SIGTERM. Linked statically, alone in its image.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_stop(int signal)
{
    (void)signal;
    _exit(0);
}

static void on_child(int signal)
{
    int saved = errno;

    (void)signal;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    errno = saved;
}

int main(void)
{
    struct sigaction stop = {.sa_handler = on_stop};
    struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP | SA_RESTART};

    if (sigaction(SIGINT, &stop, NULL) < 0 || sigaction(SIGTERM, &stop, NULL) < 0 ||
        sigaction(SIGCHLD, &child, NULL) < 0) {
        return EXIT_FAILURE;
    }
    for (;;) {
        pause();
    }
}
