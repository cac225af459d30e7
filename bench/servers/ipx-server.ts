import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * IPX (github.com/unjs/ipx) as its documentation starts it with Node. Arguments: a port, the package.json
 * of the folder where it is installed, and the options of its sharp as JSON.
 */
interface Ipx {
  createIPX(options: object): object;
  createIPXNodeServer(ipx: object): RequestListener;
  ipxHttpStorage(options: object): object;
}

const [port = '', installedBy = '', sharpOptions = '{}'] = process.argv.slice(2);
const main = createRequire(installedBy).resolve('ipx');
const ipx: Ipx = await import(pathToFileURL(main).href);
const server = ipx.createIPX({
  httpStorage: ipx.ipxHttpStorage({ domains: ['127.0.0.1'] }),
  sharpOptions: JSON.parse(sharpOptions),
});
createServer(ipx.createIPXNodeServer(server)).listen(Number(port), '127.0.0.1');
