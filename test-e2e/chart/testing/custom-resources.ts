import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { readEnvironment } from '@millrace/runtime';
import { testCacheDirectory } from '@millrace/testing';
import { goSources } from '../../cluster/index.ts';

/** Go modules with the custom resource definitions that the chart and its examples use. */
const modules = [
  {
    module: 'github.com/kedacore/keda/v2@v2.17.2',
    files: ['config/crd/bases/keda.sh_scaledobjects.yaml', 'config/crd/bases/keda.sh_triggerauthentications.yaml'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    files: ['servicemonitors', 'prometheusrules'].map(
      (name) => `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`,
    ),
  },
  {
    module: 'sigs.k8s.io/gateway-api@v1.3.0',
    files: ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  },
  {
    module: 'github.com/cloudnative-pg/cloudnative-pg@v1.27.0',
    files: ['config/crd/bases/postgresql.cnpg.io_clusters.yaml'],
  },
];

/** Returns the files with all definitions. Downloads each version only once (about 20 MB, of which 1 MB is kept). */
export async function fetchCustomResourceFiles(): Promise<string[]> {
  return (await Promise.all(modules.map(definitionsOf))).flat();
}

async function definitionsOf({ module, files }: (typeof modules)[number]): Promise<string[]> {
  const cached = join(testCacheDirectory(), 'custom-resources', module.replaceAll('/', '_'));
  if (!existsSync(cached)) {
    const temporary = await mkdtemp(join(tmpdir(), 'millrace-definitions-'));
    // Use a temporary module cache, so that all other files of the modules are deleted.
    const env = { ...readEnvironment(), GOMODCACHE: join(temporary, 'modules'), GOFLAGS: '-modcacherw -mod=mod' };
    const from = await goSources(module, { cwd: temporary, env });
    const copied = join(temporary, 'copied');
    await mkdir(copied);
    for (const file of files) await cp(join(from, file), join(copied, basename(file)));
    await mkdir(join(cached, '..'), { recursive: true });
    // A different process may have finished the download first.
    await rename(copied, cached).catch(() => {});
    await rm(temporary, { recursive: true, force: true });
  }
  return (await readdir(cached)).map((name) => join(cached, name));
}
