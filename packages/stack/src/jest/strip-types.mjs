// Loaded before jest's workers run anything: lets Node.js import TypeScript. Newer releases can do that without help.
import { register } from 'node:module';

if (!process.features.typescript) register('./strip-types-hooks.mjs', import.meta.url);
