import { setFlagsFromString } from 'node:v8';
import { runService } from '@millrace/runtime';
import { eventConsumer } from './start.ts';

// By default, the heap grows to four times its live size before a full garbage collection. This would take 65 MB more
// and save 5 % of the time. With 130, the consumer needs less than 200 MB even with a thousand projects. With 145, it
// processes a few percent more events but needs more than 200 MB (`npm run bench -- consumer --copy`,
// docs/decisions/013-memory-of-a-process.md).
setFlagsFromString('--heap-growing-percent=130');

await runService(eventConsumer);
