import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testCacheDirectory } from '@millrace/testing';
import type { Call, Sdk } from './sdk.ts';

/** A program in a language other than JavaScript. Its argument is the name of a call, or `flags`. */
export interface SdkProgram {
  folder: 'python' | 'go' | 'rust';
  /** Name and version in the package registry. */
  name: string;
  /** The command line, without the argument. */
  command: string[];
  unavailable: string | null;
}

interface Recipe {
  folder: 'python' | 'go' | 'rust';
  name: string;
  /** The file with the pinned SDK version, and a pattern that finds the version. */
  pin: [file: string, version: RegExp];
  /** Program that must be in the PATH. */
  tool: string;
  /**
   * Downloads the SDK and builds the program.
   * @returns the command line, without the argument
   * @throws Error with the tool's output
   */
  build(source: string, cache: string): Promise<string[]>;
}

const calls: readonly Call[] = ['capture', 'identify', 'alias', 'group identify', 'batch', 'historical migration'];

const recipes: Recipe[] = [
  {
    folder: 'python',
    name: 'posthog-python',
    pin: ['requirements.txt', /^posthog==(.+)$/m],
    tool: 'python3',
    build: buildPython,
  },
  { folder: 'go', name: 'posthog-go', pin: ['go.mod', /posthog-go v(\S+)/], tool: 'go', build: buildGo },
  { folder: 'rust', name: 'posthog-rs', pin: ['Cargo.toml', /posthog-rs.*"=(.+?)"/], tool: 'cargo', build: buildRust },
];

/**
 * Builds the programs for SDKs in languages other than JavaScript. If a tool or a package registry is not available,
 * the result contains the reason.
 */
export async function buildSdkPrograms(): Promise<SdkProgram[]> {
  return Promise.all(recipes.map(buildProgram));
}

export async function createProgramSdks(): Promise<Sdk[]> {
  return (await buildSdkPrograms()).map(toSdk);
}

async function buildProgram({ folder, name, pin: [file, version], tool, build }: Recipe): Promise<SdkProgram> {
  const source = fileURLToPath(new URL(`./${folder}/`, import.meta.url));
  let command: string[] = [];
  let unavailable: string | null = null;
  try {
    await run(['sh', '-c', `command -v ${tool}`]).catch(() => {
      throw new Error(`${tool} is not on the PATH`);
    });
    command = await build(source, join(testCacheDirectory(), 'sdks', folder));
  } catch (error) {
    unavailable = error instanceof Error ? error.message : String(error);
  }
  const pinned = version.exec(await readFile(join(source, file), 'utf8'))?.[1];
  return { folder, name: `${name} ${pinned}`, command, unavailable };
}

function toSdk({ name, command, unavailable }: SdkProgram): Sdk {
  return {
    name,
    kind: 'server',
    calls,
    unavailable,
    async open({ ingestUrl, projectApiKey }) {
      const complaints: string[] = [];
      return {
        complaints,
        async make(call) {
          const errorOutput = await runProgram([...command, call], {
            INGEST_URL: ingestUrl,
            PROJECT_API_KEY: projectApiKey,
          });
          if (errorOutput !== '') complaints.push(errorOutput);
        },
        close: async () => {},
      };
    },
  };
}

/** Creates a virtual environment with exactly these requirements, unless it exists. */
async function buildPython(source: string, cache: string): Promise<string[]> {
  const requirements = join(source, 'requirements.txt');
  const installed = join(
    cache,
    createHash('sha256')
      .update(await readFile(requirements))
      .digest('hex')
      .slice(0, 16),
  );
  const python = (directory: string) => join(directory, 'bin/python');
  if (!existsSync(python(installed))) {
    await mkdir(cache, { recursive: true });
    const draft = `${installed}.${process.pid}`;
    await rm(draft, { recursive: true, force: true });
    await run(['python3', '-m', 'venv', draft]);
    await run([python(draft), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]);
    // The virtual environment can be moved, because only its scripts contain its path, and they are not used.
    await rename(draft, installed).catch(async (error) => {
      // A different test file may have finished the installation first.
      if (!existsSync(python(installed))) throw error;
      await rm(draft, { recursive: true, force: true });
    });
  }
  return [python(installed), '-B', join(source, 'main.py')];
}

async function buildGo(source: string, cache: string): Promise<string[]> {
  const program = join(cache, 'sdk');
  await run(['go', 'build', '-C', source, '-mod=readonly', '-o', program, '.']);
  return [program];
}

async function buildRust(source: string, cache: string): Promise<string[]> {
  const manifest = join(source, 'Cargo.toml');
  await run(['cargo', 'build', '--quiet', '--locked', '--manifest-path', manifest, '--target-dir', cache]);
  return [join(cache, 'debug/sdk-rust')];
}

/** @throws Error with the end of the program's output */
function run([program = '', ...programArguments]: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(program, programArguments, { timeout: 600_000, maxBuffer: 64 << 20 }, (error, out, err) => {
      if (error === null) return resolve();
      reject(
        new Error(`${program} ${programArguments[0]} failed: ${(err || out || error.message).trim().slice(-500)}`),
      );
    });
  });
}

/** @returns the error output */
function runProgram([program = '', ...programArguments]: string[], settings: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(program, programArguments, {
      env: settings,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 150_000,
      killSignal: 'SIGKILL',
    });
    let errorOutput = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errorOutput += text;
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(code === 0 ? errorOutput : `${errorOutput}\nended with ${code}`));
  });
}
