import { sendsMail } from '../../../api/request.ts';
import { text } from './words.ts';

/** Warns that this installation does not send email, before a report fails because of this. */
export const NoMail = () => (sendsMail() ? null : <p className="note warn">{text.noMail}</p>);
