export default { envPrefix: 'IMAGES_' };
