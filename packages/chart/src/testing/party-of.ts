import type { PodParty } from '@millrace/cluster';
import { type Manifest, podOf } from './manifest.ts';

/** What runs, of a deployment, a job or a pod, as others see it. */
export function partyOf(manifest: Manifest): PodParty {
  const { labels = {} } = manifest.kind === 'Pod' ? manifest.metadata : (manifest.spec.template?.metadata ?? {});
  const ports = (podOf(manifest)?.containers ?? []).flatMap((container) => container.ports ?? []);
  return {
    ...{ namespace: manifest.metadata.namespace ?? 'default', labels },
    ports: Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort])),
  };
}
