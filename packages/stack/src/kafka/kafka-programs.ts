// What a broker is run with: Java, and Apache Kafka's jars.
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { cacheDirectory, keepInCache } from '../process/cache-directory.ts';
import { runProgram } from '../process/run-program.ts';
import { canWriteIn } from '../process/unprivileged-user.ts';
import { fetchJava, keptJava } from '../registry/fetched-programs.ts';
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

const directoryName = `kafka-${kafkaVersion}`;
const directory = () => join(cacheDirectory(), directoryName);

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
  await keepInCache(directoryName, async (temporary) => {
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
  });
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

const oldest = 17;

/** The first Java that is new enough: JAVA_HOME's, the PATH's, one that was fetched. Null when there is none. */
export async function findJava(): Promise<string | null> {
  const { JAVA_HOME } = process.env;
  for (const java of [...(JAVA_HOME ? [join(JAVA_HOME, 'bin/java')] : []), 'java', keptJava() ?? []].flat()) {
    const { status, output } = await runProgram(java, ['-version'], { timeoutMs: 20_000 });
    // `openjdk version "17.0.15"`; the 1.8 of old is 1.
    const version = /version "(\d+)/.exec(output)?.[1];
    if (status === 0 && Number(version) >= oldest) return java;
  }
  return null;
}

/** The same, fetched when there is none. @throws SetupProblem when it cannot be had. */
export async function ensureJava(): Promise<string> {
  return (await findJava()) ?? fetchJava();
}
