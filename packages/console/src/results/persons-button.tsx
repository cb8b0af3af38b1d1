/** A number that opens a list of the persons it counts. Without `onOpen`, the number is plain text. */
export function PersonsButton({
  count,
  label,
  onOpen,
}: {
  count: string;
  label: string;
  onOpen: (() => void) | undefined;
}) {
  if (onOpen === undefined) return count;
  return (
    <button type="button" className="link-button mono" aria-label={label} onClick={onOpen}>
      {count}
    </button>
  );
}
