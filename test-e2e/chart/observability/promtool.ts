import { join } from 'node:path';
import { runProgram } from '@millrace/stack/run-program';
import { debianFiles } from '../../cluster/index.ts';
import { root } from '../testing/render-chart.ts';

/** Runs promtool, which evaluates alert rules on given series. */
export async function promtool(...programArguments: string[]) {
  const files = await debianFiles('prometheus', ['prometheus']);
  return runProgram(join(files, 'usr/bin/promtool'), programArguments, { cwd: root });
}
