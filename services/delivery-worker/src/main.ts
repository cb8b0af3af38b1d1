// The entry point of the delivery worker process.

import { runService } from '@millrace/runtime';
import { deliveryWorker } from './start.ts';

await runService(deliveryWorker);
