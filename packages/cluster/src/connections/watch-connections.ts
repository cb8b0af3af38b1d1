import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerProcess } from '@millrace/stack/src/process/server-process.ts';
import { type PartOptions, startPart } from '../control-plane/start-part.ts';
import { kubectlAndHelm } from '../parts/kubectl-and-helm.ts';
import { type ConnectionEvent, parseConntrackEvent } from './conntrack-event.ts';
import { type KnownPolicy, policyHistory } from './policy-history.ts';
import { type SeenPod, seenPods } from './seen-pods.ts';
import { parseWatchEvent, watchEventLine } from './watch-event.ts';

/** What was seen from the beginning, what is gone too. */
export interface Traffic {
  connections: ConnectionEvent[];
  pods: SeenPod[];
  policies: KnownPolicy[];
}

export interface ConnectionWatch {
  parts: ServerProcess[];
  /** @throws Error when some of it was missed. */
  read(): Traffic;
}

/** More than is waiting at any moment. */
const bufferBytes = 8 * 1024 * 1024;

/** Prints lines of a program after the second at which each came, and starts it anew: a watch ends after a while. */
const stamped = `while :; do
  "$@" 2>&1 | while IFS= read -r line; do printf '%s %s\\n' "$EPOCHREALTIME" "$line"; done
  sleep 1
done`;

/** Writes down who connects to whom: all nodes share one network namespace, where the kernel follows each connection. */
export async function watchConnections(kubeconfig: string, options: PartOptions): Promise<ConnectionWatch> {
  const { kubectl } = await kubectlAndHelm();
  const watch = (name: string, kind: string) => {
    const words = ['get', kind, '--all-namespaces', '--watch', '--output-watch-events', '-o', watchEventLine];
    const flags = ['-c', stamped, 'bash', kubectl, '--kubeconfig', kubeconfig, ...words];
    return startPart(name, { command: 'bash', flags }, options);
  };
  const flags = ['-E', '-e', 'NEW', '-o', 'timestamp', '--buffer-size', String(bufferBytes)];
  const lines = (name: string) => readFileSync(join(options.directory, `${name}.log`), 'utf8').split('\n');
  return {
    parts: [
      startPart('conntrack', { command: 'conntrack', flags }, options),
      watch('pod-watch', 'pods'),
      watch('policy-watch', 'networkpolicies'),
    ],
    read() {
      const events = lines('conntrack');
      const loss = events.find((line) => line.includes('ENOBUFS'));
      if (loss !== undefined) throw new Error(`conntrack has missed connections: ${loss}`);
      return {
        connections: events.flatMap((line) => parseConntrackEvent(line) ?? []),
        pods: seenPods(lines('pod-watch').flatMap((line) => parseWatchEvent(line) ?? [])),
        policies: policyHistory(lines('policy-watch').flatMap((line) => parseWatchEvent(line) ?? [])),
      };
    },
  };
}
