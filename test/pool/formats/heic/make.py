"""Makes the HEICs of this folder, which tests read: python3 make.py P3.icc

Needs pillow-heif 1.8.1, whose libheif has the encoder x265. The pictures are our own: quarters of red, green, blue
and yellow, or what their name says. P3.icc is a profile of Display P3, such as sharp writes with
withIccProfile('p3').
"""

import sys

import numpy
from PIL import Image
from pillow_heif import HeifFile, from_bytes, from_pillow

icc = open(sys.argv[1], "rb").read()
options = {"quality": 90, "chroma": "444", "save_nclx_profile": True}


def quarters(width, height, mode="RGB"):
    image = Image.new(mode, (width, height))
    w, h = width // 2, height // 2
    colours = {(0, 0): "red", (w, 0): "lime", (0, h): "blue", (w, h): "yellow"}
    for (x, y), colour in colours.items():
        image.paste(colour, (x, y, x + w, y + h))
    return image


def save(name, *images, **more):
    file = HeifFile()
    for image in images:
        file.add_from_pillow(image)
    file.save(name, **{**options, **more})


exif = Image.Exif()
exif[0x0112] = 6  # Orientation, which is also written as irot, as cameras do
exif[0x8298] = "Jane Doe"  # Copyright

save("quarters.heic", quarters(64, 48))
save("turned.heic", quarters(64, 48), exif=exif.tobytes(), xmp=b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>")
save("tiles.heic", quarters(150, 100), tile_size=64)

alpha = quarters(64, 48, "RGBA")
alpha.putalpha(Image.linear_gradient("L").resize((64, 48)))
save("alpha.heic", alpha)

p3 = Image.new("RGB", (32, 32), (234, 51, 35))  # the red of sRGB
p3.info["icc_profile"] = icc
save("p3.heic", p3)

# The second one is the primary image.
save("two.heic", Image.new("RGB", (64, 48), "red"), Image.new("RGB", (32, 40), "blue"), primary_index=1)

# A ramp of 1,024 steps, of which 8 bits would have 256; 16 bits, of which the encoder takes 10.
ramp = numpy.repeat((numpy.arange(1024) << 6).astype("<u2"), 3).reshape(1, 1024, 3)
ten_bit = from_bytes("RGB;16", (1024, 16), numpy.repeat(ramp, 16, axis=0).tobytes())
ten_bit.save("ten-bit.heic", **{**options, "quality": -1})

# Many pixels in few bytes.
save("large.heic", Image.new("RGB", (3600, 3600), (40, 80, 120)), chroma="420")

# More items than the 256 that libvips opens without "unlimited".
save("items.heic", quarters(1088, 1024), tile_size=64)

thumbnail = quarters(64, 48)
thumbnail.info["thumbnails"] = [32]
save("thumbnail.heic", thumbnail)
