import { join } from 'node:path';
import { runProgram } from '@millrace/stack/run-program';
import { readDebianFiles } from '../../cluster/index.ts';
import { root } from '../testing/render-chart.ts';

export async function runPromtool(...programArguments: string[]) {
  const files = await readDebianFiles('prometheus', ['prometheus']);
  return runProgram(join(files, 'usr/bin/promtool'), programArguments, { cwd: root });
}
