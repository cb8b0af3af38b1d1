/**
 * Copies text to the clipboard. Browsers provide the clipboard API only on HTTPS and localhost, so on other hosts, this
 * function copies a selection.
 * @returns whether copying succeeded
 */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const field = document.createElement('textarea');
  field.value = text;
  const focused = document.activeElement;
  (focused?.closest('[role=dialog]') ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
