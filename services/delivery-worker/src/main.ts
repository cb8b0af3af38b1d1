import { runService } from '@millrace/runtime';
import { deliveryWorker } from './start.ts';

await runService(deliveryWorker);
