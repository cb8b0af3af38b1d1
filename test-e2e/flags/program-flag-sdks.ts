import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { buildSdkPrograms, type SdkProgram } from '../sdks/program-sdks.ts';
import type { FlagCase } from './flag-cases.ts';
import { type FlagSdk, type FlagTarget, getPersonProperties, type SdkResult } from './flag-sdk.ts';

/**
 * Returns the SDKs for languages other than JavaScript. Each SDK is a program that reads cases and writes results as
 * lines of JSON.
 */
export async function createProgramFlagSdks(): Promise<FlagSdk[]> {
  return (await buildSdkPrograms()).map(toFlagSdk);
}

function toFlagSdk({ name, command, unavailable }: SdkProgram): FlagSdk {
  return {
    name,
    unavailable,
    async evaluate(target, cases) {
      const input = cases.map((one) => JSON.stringify(toInput(one))).join('\n');
      const output = await runProgram([...command, 'flags'], settingsFor(target), input);
      return new Map(
        output
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => {
            const { number, ...result } = JSON.parse(line) as SdkResult & { number: number };
            return [number, result];
          }),
      );
    },
  };
}

function settingsFor({ ingestUrl, projectApiKey, definitionsKey }: FlagTarget): Record<string, string> {
  return {
    INGEST_URL: ingestUrl,
    PROJECT_API_KEY: projectApiKey,
    ...(definitionsKey === null ? {} : { DEFINITIONS_KEY: definitionsKey }),
  };
}

function toInput(one: FlagCase) {
  return {
    number: one.number,
    key: one.flag,
    distinct_id: one.distinctId,
    person_properties: getPersonProperties(one),
    device_id: one.context.device_id ?? null,
    groups: one.context.groups ?? {},
    group_properties: one.context.group_properties ?? {},
    has_payload: one.payload !== null,
  };
}

/**
 * Runs a program. Ignores its warnings, because SDKs warn about failed flags.
 * @returns the program's output
 * @throws Error with the error output if the program fails
 */
async function runProgram(
  [program = '', ...programArguments]: string[],
  settings: Record<string, string>,
  input: string,
): Promise<string> {
  const child = spawn(program, programArguments, { env: settings, timeout: 240_000, killSignal: 'SIGKILL' });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(`ended with ${code}`));
  });
  child.stdin.on('error', () => {});
  child.stdin.end(`${input}\n`);
  const [output, complained, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (end !== 'ended with 0') throw new Error(`${complained.slice(0, 2000)}\n${end}`);
  return output;
}
