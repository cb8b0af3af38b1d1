// Runs one TypeScript program of the repository, after installing its packages: `run.mjs <file> [arguments]`.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runProgram } from './prepare/run-command.mjs';

const [file, ...programArguments] = process.argv.slice(2);
if (!file) {
  console.error('Usage: node packages/stack/bin/run.mjs <file.ts> [arguments]');
  process.exit(2);
}
await runProgram(pathToFileURL(resolve(file)).href, resolve(file), programArguments);
