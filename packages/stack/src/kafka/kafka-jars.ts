import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { cacheDirectory } from '../process/cache-directory.ts';
import { runProgram } from '../process/run-program.ts';
import { canWriteIn } from '../process/unprivileged-user.ts';
import { SetupProblem } from '../setup-problem.ts';

export const kafkaVersion = '4.1.0';

/** The broker itself and a logger that prints; Maven finds the other forty-odd. */
const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>millrace</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${kafkaVersion}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;

function directory(): string {
  return join(cacheDirectory(), `kafka-${kafkaVersion}`);
}

/** True when they were fetched before, so that Maven is not needed. */
export function hasKafkaJars(): boolean {
  return existsSync(join(directory(), 'lib'));
}

/**
 * The directory of Apache Kafka's own jars, fetched through Maven the first time (43 MB) and kept for all clones.
 * @throws SetupProblem with Maven's words when it cannot fetch them.
 */
export async function kafkaJars(): Promise<string> {
  if (!hasKafkaJars()) await fetchJars();
  return join(directory(), 'lib');
}

async function fetchJars(): Promise<void> {
  await mkdir(cacheDirectory(), { recursive: true });
  const temporary = await mkdtemp(`${directory()}-fetching-`);
  try {
    await writeFile(join(temporary, 'pom.xml'), pom);
    const { status, output } = await runProgram(
      'mvn',
      ['-q', '-B', ...localRepository(temporary), 'dependency:copy-dependencies', '-DoutputDirectory=lib'],
      { cwd: temporary },
    );
    if (status !== 0) {
      throw new SetupProblem(
        `Maven could not fetch Kafka's jars:\n${output.trim().split('\n').slice(0, 8).join('\n')}`,
      );
    }
    await rm(join(temporary, 'maven'), { recursive: true, force: true });
    // The name appears with everything in it; another clone may have been quicker.
    if (!hasKafkaJars()) await rename(temporary, directory());
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Maven's cache is in the home directory of the password file; where there is none, it gets one for the time being. */
function localRepository(temporary: string): string[] {
  try {
    const { homedir } = userInfo();
    if (canWriteIn(join(homedir, '.m2'), undefined) || canWriteIn(homedir, undefined)) return [];
  } catch {
    // No entry in the password file.
  }
  return [`-Dmaven.repo.local=${join(temporary, 'maven')}`];
}
