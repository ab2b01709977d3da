/** What is wrong with an entry in one line that names the field, once. */
export const problemText = ({ field, message }: { readonly field: string; readonly message: string }): string =>
  message.includes(field) ? message : `${field}: ${message}`;
