// This file is loaded before jest's workers run any code, so that Node.js can import TypeScript. Newer Node.js releases
// support TypeScript natively.
import { register } from 'node:module';

if (!process.features.typescript) register('./strip-types-hooks.mjs', import.meta.url);
