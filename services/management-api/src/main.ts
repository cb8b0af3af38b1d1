import { setFlagsFromString } from 'node:v8';
import { runService } from '@millrace/runtime';
import { managementApi } from './start.ts';

// What is in use is small (some 40 MB); left alone the heap grows to four times that before it is cleaned, as if the
// machine were ours. Cleaning earlier costs no time that can be measured.
setFlagsFromString('--heap-growing-percent=60');

await runService(managementApi);
