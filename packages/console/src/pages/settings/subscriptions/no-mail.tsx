import { sendsMail } from '../../../api/request.ts';
import { text } from './words.ts';

/** Before a report fails because of it: this installation does not send email. */
export const NoMail = () => (sendsMail() ? null : <p className="note warn">{text.noMail}</p>);
