// The program of a body thread in development. TypeScript support must be registered in each thread. Installations run
// the program that was built from body-worker.ts.
import { register } from 'tsx/esm/api';

register();
await import('./body-worker.ts');
