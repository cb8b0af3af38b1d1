// A script that is loaded on demand and contains the code that measures page performance.

import { captureVitals } from '../web-vitals/capture-vitals.ts';
import { offerSideScripts } from './offer.ts';

offerSideScripts({ 'web-vitals': captureVitals });
