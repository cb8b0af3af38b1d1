import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, explainMissingApiServer, startApiServer } from './start-api-server.ts';

const missing = await explainMissingApiServer();
let server: ApiServer;
let directory: string;

/** A pod that complies with the Pod Security level `restricted`. */
const pod = {
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' } },
  spec: {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        ...{ name: 'one', image: 'one:1' },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};

async function dryRun(manifest: unknown) {
  const file = join(directory, 'manifest.json');
  writeFileSync(file, JSON.stringify(manifest));
  return server.kubectl('apply', '--dry-run=server', '--validate=strict', '-n', 'strict', '-f', file);
}

(missing === null ? describe : describe.skip)(
  `an API server without nodes${missing === null ? '' : ` (${missing})`}`,
  () => {
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'millrace-dry-run-'));
      server = await startApiServer();
      await server.kubectl('create', 'namespace', 'strict');
      await server.kubectl('label', 'namespace', 'strict', 'pod-security.kubernetes.io/enforce=restricted');
      // On its first run on a machine, the test builds the API server from source.
    }, 1_500_000);
    afterAll(async () => {
      await server?.stop();
      await rm(directory, { recursive: true, force: true });
    });

    test('the API server accepts a valid manifest, and stores nothing in a dry run', async () => {
      expect(await dryRun(pod)).toEqual({ status: 0, output: 'pod/one created (server dry run)\n' });
      expect((await server.kubectl('get', 'pods', '-n', 'strict')).output).toContain('No resources found');
    });

    test.each([
      [
        'a misspelt field',
        { ...pod, spec: { ...pod.spec, restartPolice: 'Never' } },
        'unknown field "spec.restartPolice"',
      ],
      ['a wrong type', { ...pod, spec: { ...pod.spec, hostNetwork: 'yes' } }, 'hostNetwork'],
      [
        'a pod that a restricted namespace forbids',
        { ...pod, spec: { ...pod.spec, hostNetwork: true } },
        'violates PodSecurity',
      ],
    ])('the API server rejects %s', async (_, manifest, reason) => {
      const { status, output } = await dryRun(manifest);
      expect(status).toBe(1);
      expect(output).toContain(reason);
    });

    test('the API server accepts requests from Helm', async () => {
      expect(await server.helm('list', '--all-namespaces', '--output', 'json')).toEqual({ status: 0, output: '[]\n' });
    });
  },
);
