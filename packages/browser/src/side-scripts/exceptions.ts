// The side script with the code that converts errors to events. It is loaded on demand.

import { createReadException } from '../exceptions/read-exception.ts';
import { registerSideScripts } from './offer.ts';

registerSideScripts({ exceptions: createReadException });
