import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../process/run-program.ts';
import { SetupProblem } from '../setup-problem.ts';
import type { Labels } from './oci-image.ts';

/**
 * What the image says of where it is from. Its date is the commit's, so that one commit gives one image; where there is no
 * history, `SOURCE_DATE_EPOCH` and `REVISION` say it.
 * @throws SetupProblem when `SOURCE_DATE_EPOCH` is no number
 */
export async function imageLabels(root: string): Promise<Labels> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const { status, output } = await runProgram('git', ['log', '-1', '--format=%H %ct'], { cwd: root });
  const [commit = '', committedAt = ''] = status === 0 ? output.trim().split(' ') : [];
  const seconds = Number(process.env.SOURCE_DATE_EPOCH || committedAt);
  if (!Number.isSafeInteger(seconds)) throw new SetupProblem('SOURCE_DATE_EPOCH is no number of seconds.');
  return {
    version,
    created: new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'),
    revision: process.env.REVISION || commit,
  };
}
