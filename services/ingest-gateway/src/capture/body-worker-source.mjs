// The body thread's program in development, where each thread must register TypeScript support. Installations run the
// program that was built from body-worker.ts.
import { register } from 'tsx/esm/api';

register();
await import('./body-worker.ts');
