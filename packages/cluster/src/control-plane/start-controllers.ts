import type { ServerProcess } from '@millrace/stack/src/process/server-process.ts';
import type { RunningApiServer } from '../api-server/run-api-server.ts';
import { kubernetesProgram } from '../parts/kubernetes-programs.ts';
import { type PartOptions, startPart } from './start-part.ts';

/** Everything that turns what is wanted into pods on nodes: controllers and scheduler. */
export async function startControllers(server: RunningApiServer, options: PartOptions): Promise<ServerProcess[]> {
  const { kubeconfig, certificates } = server;
  // There is one of each.
  const shared = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false'];
  const manager = startPart(
    'kube-controller-manager',
    {
      command: await kubernetesProgram('kube-controller-manager'),
      flags: [
        ...shared,
        `--service-account-private-key-file=${certificates.serviceAccountKey}`,
        `--root-ca-file=${certificates.authority}`,
        '--use-service-account-credentials=true',
        // A story is minutes long, not a day: what is decided slowly in production is decided in seconds here.
        '--horizontal-pod-autoscaler-sync-period=5s',
        '--horizontal-pod-autoscaler-initial-readiness-delay=5s',
        '--horizontal-pod-autoscaler-cpu-initialization-period=10s',
      ],
    },
    options,
  );
  const scheduler = startPart(
    'kube-scheduler',
    { command: await kubernetesProgram('kube-scheduler'), flags: shared },
    options,
  );
  return [manager, scheduler];
}
