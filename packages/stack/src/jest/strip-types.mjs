// Loaded before jest's workers run anything. It lets Node.js import TypeScript, which newer releases support natively.
import { register } from 'node:module';

if (!process.features.typescript) register('./strip-types-hooks.mjs', import.meta.url);
