export function listFilesBelow(
  directory: string,
  options?: { withPackages?: boolean },
): { path: string; isLink: boolean }[];
