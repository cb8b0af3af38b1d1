// The side script with the code that measures page performance. It is loaded on demand.

import { captureVitals } from '../web-vitals/capture-vitals.ts';
import { registerSideScripts } from './offer.ts';

registerSideScripts({ 'web-vitals': captureVitals });
