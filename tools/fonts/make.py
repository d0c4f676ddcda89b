"""Subsets of the Noto fonts for papers: make.py FOLDER_OF_FONTS FOLDER_TO_WRITE_TO. See make.sh."""
import io
import sys

import brotli
from fontTools import subset
from fontTools.ttLib import TTFont

fonts, into = sys.argv[1:]

# The scripts of names, one font each. Adding one here needs a line in views/pdf/fonts.go.
SCRIPTS = ["", "Arabic", "Armenian", "Bengali", "Devanagari", "Ethiopic", "Georgian", "Gujarati", "Gurmukhi", "Hebrew", "Kannada",
           "Khmer", "Lao", "Malayalam", "Myanmar", "Sinhala", "Tamil", "Telugu", "Thai"]

# Features that a plain text never turns on.
CHOSEN = ["smcp", "c2sc", "subs", "sups", "sinf", "dnom", "numr", "frac", "aalt", "salt", "ss01", "ss02", "ss03", "case", "onum", "lnum",
          "pnum", "tnum", "ordn", "zero"]


def common():
    """The letters of Chinese, Japanese and Korean that are in use: of the character sets that computers there had before Unicode."""
    letters = set(range(0x20, 0x7f))
    for encoding, last in [("euc_jp", 0xfe), ("cp932", 0xfe), ("gb2312", 0xfe), ("cp949", 0xfe), ("big5", 0xc6)]:
        for lead in range(0x81, last + 1):
            for trail in range(0x40, 0xff):
                try:
                    letter = bytes([lead, trail]).decode(encoding)
                except UnicodeDecodeError:
                    continue
                if len(letter) == 1 and not 0xe000 <= ord(letter) <= 0xf8ff and ord(letter) > 0x2000:
                    letters.add(ord(letter))
    return letters


def write(source, name, letters, number=-1, **settings):
    options = subset.Options(hinting=False, notdef_outline=True, name_IDs=[], **settings)
    font = TTFont(f"{fonts}/{source}", fontNumber=number, lazy=True, recalcTimestamp=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=letters or font.getBestCmap().keys())
    subsetter.subset(font)
    content = io.BytesIO()
    font.save(content)
    content = brotli.compress(content.getvalue(), quality=11, lgwin=24)
    with open(f"{into}/{name}.br", "wb") as file:
        file.write(content)
    print(f"{name}: {font['maxp'].numGlyphs} glyphs, {len(content)} bytes")


for script in SCRIPTS:
    features = [tag for tag in subset.Options().layout_features if tag not in CHOSEN]
    write(f"truetype/noto/NotoSans{script}-Regular.ttf", "-".join(["noto-sans", script.lower()]).strip("-") + ".ttf", None, layout_features=features)
# No feature: forms of letters by language would be another 1.4 MB. Japanese ones are the first font of the collection.
write("opentype/noto/NotoSansCJK-Regular.ttc", "noto-sans-cjk.otf", common(), number=0, layout_features=[], desubroutinize=True,
      drop_tables=["vhea", "vmtx", "VORG", "BASE", "GPOS", "GSUB"])
