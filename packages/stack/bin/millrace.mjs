#!/usr/bin/env node
// `npx millrace`: runs the command-line client of packages/cli in a clone.
import { runProgram } from './prepare/run-command.mjs';

const program = new URL('../../cli/src/main.ts', import.meta.url);
await runProgram(program.href, program.pathname, process.argv.slice(2));
