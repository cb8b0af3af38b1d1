import { setFlagsFromString } from 'node:v8';
import { runService } from '@millrace/runtime';
import { eventConsumer } from './start.ts';

// By default the heap grows to four times what is in use before it is cleaned, as if the machine were ours alone: 65 MB
// more, and 5 % less time. At 130 the consumer keeps below 200 MB with a thousand projects too; at 145 it gets a few per
// cent more events done and does not (`npm run bench -- consumer --copy`; docs/decisions/013-memory-of-a-process.md).
setFlagsFromString('--heap-growing-percent=130');

await runService(eventConsumer);
