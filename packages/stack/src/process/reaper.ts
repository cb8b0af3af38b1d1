import { spawn } from 'node:child_process';

/** Ends processes if this one dies without having done so. */
export interface Reaper {
  /** Watches over a process from now on. Those added last are ended first. */
  watch(pid: number, signal: NodeJS.Signals): void;
  forget(pid: number): void;
  /** Nothing is watched over any more; the reaper goes. */
  dismiss(): void;
}

/**
 * Reads the current list, one line each time it changes, from a pipe that closes when its writer dies, however that
 * happens. Then it signals each process and waits up to 15 s for it before it takes the next.
 */
const script = `
trap '' INT TERM HUP
while read -r line; do list=$line; done
for entry in $list; do
  pid=\${entry#*:}
  kill -s "\${entry%%:*}" "$pid" 2>/dev/null || continue
  n=0
  while kill -0 "$pid" 2>/dev/null && [ $n -lt 150 ]; do sleep 0.1; n=$((n + 1)); done
  kill -s KILL "$pid" 2>/dev/null
done
`;

/**
 * A reaper is a process of its own in a session of its own, so that neither Ctrl-C nor the end of the terminal reaches
 * it. A shell, because it costs a megabyte.
 */
export function createReaper(): Reaper {
  const child = spawn('sh', ['-c', script, 'millrace-reaper'], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.unref();
  const watched: { pid: number; signal: NodeJS.Signals }[] = [];
  const write = () => {
    child.stdin.write(`${watched.map(({ pid, signal }) => `${signal.replace('SIG', '')}:${pid}`).join(' ')}\n`);
  };
  return {
    watch(pid, signal) {
      watched.unshift({ pid, signal });
      write();
    },
    forget(pid) {
      const index = watched.findIndex((entry) => entry.pid === pid);
      if (index < 0) return;
      watched.splice(index, 1);
      write();
    },
    dismiss() {
      watched.length = 0;
      write();
      child.stdin.end();
    },
  };
}
