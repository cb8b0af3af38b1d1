import { part, useUrlState } from '../../../parts/address.ts';

/** `new`: what the user is creating. */
const parts = { new: part.oneOf(['', 'project', 'environment'], '') };
export const useSectionUrlState = () => useUrlState(parts);
