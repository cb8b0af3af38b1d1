import { join } from 'node:path';
import { runProgram } from '../process/run-program.ts';

const oldest = 17;

/** The first Java that is new enough: JAVA_HOME's, then the PATH's. Null when there is none. */
export async function findJava(): Promise<string | null> {
  const { JAVA_HOME } = process.env;
  for (const java of [...(JAVA_HOME ? [join(JAVA_HOME, 'bin/java')] : []), 'java']) {
    const { status, output } = await runProgram(java, ['-version'], { timeoutMs: 20_000 });
    // `openjdk version "17.0.15"`; the 1.8 of old is 1.
    const version = /version "(\d+)/.exec(output)?.[1];
    if (status === 0 && Number(version) >= oldest) return java;
  }
  return null;
}
