const oldest = [20, 19];

/** Ends the program with one line when this Node.js is too old to run anything further. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return;
  console.error(
    `✗ Node.js ${oldest.join('.')} or newer is needed; this is ${process.versions.node} (${process.execPath}).`,
  );
  process.exit(1);
}
