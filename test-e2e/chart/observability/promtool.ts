import { join } from 'node:path';
import { runProgram } from '@millrace/stack/run-program';
import { debianFiles } from '../../cluster/index.ts';
import { root } from '../testing/render-chart.ts';

/** The tool of Prometheus that runs rules over made-up figures. */
export async function promtool(...programArguments: string[]) {
  const files = await debianFiles('prometheus', ['prometheus']);
  return runProgram(join(files, 'usr/bin/promtool'), programArguments, { cwd: root });
}
