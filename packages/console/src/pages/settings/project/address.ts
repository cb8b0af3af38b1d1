import { part, useAddress } from '../../../parts/address.ts';

/** `new`: what the user is creating. */
const parts = { new: part.oneOf(['', 'project', 'environment'], '') };
export const useSectionAddress = () => useAddress(parts);
