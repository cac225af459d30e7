/** What starts the service, such as `npx image-delivery`; '' in a clone. */
const { command = '' } = document.getElementById('app')?.dataset ?? {};

/** A command of the package or, in a clone, its script. */
export const launchCommand = (ofPackage: string, ofClone: string): string =>
  command === '' ? ofClone : `${command} ${ofPackage}`;
