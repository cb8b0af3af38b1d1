import { part, useUrlState } from '../../../parts/address.ts';

/** `new` is the kind of record that the user is creating. It is empty while no form is open. */
const parts = { new: part.oneOf(['', 'project', 'environment'], '') };
export const useSectionUrlState = () => useUrlState(parts);
