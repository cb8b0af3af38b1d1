import { captureVitals } from '../web-vitals/capture-vitals.ts';
import { offerSideScripts } from './offer.ts';

offerSideScripts({ 'web-vitals': captureVitals });
