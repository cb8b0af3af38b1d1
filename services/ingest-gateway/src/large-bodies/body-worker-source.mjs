// The program of a body thread in development: TypeScript has to be asked for in every thread. An installation runs what
// body-worker.ts was built to.
import { register } from 'tsx/esm/api';

register();
await import('./body-worker.ts');
