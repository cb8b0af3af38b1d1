export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** The byte order mark tells spreadsheet programs that the file is in UTF-8. */
export const saveCsv = (name: string, csv: string) =>
  saveFile(name, new Blob(['\ufeff', csv], { type: 'text/csv;charset=utf-8' }));
