// The code that measures page performance, as a side script that is loaded on demand.

import { captureVitals } from '../web-vitals/capture-vitals.ts';
import { registerSideScripts } from './offer.ts';

registerSideScripts({ 'web-vitals': captureVitals });
