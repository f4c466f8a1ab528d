#include "thalweg/io/pickle.h"

#include <gtest/gtest.h>

#include "thalweg/core/error.h"

namespace thalweg::io {
namespace {

using errors::DataLossError;
using Kind = Pickled::Kind;

Pickled parse(std::string_view bytes) { return parse_pickle(std::as_bytes(std::span(bytes))); }
/// Text with zeros in it.
template <size_t N> constexpr std::string_view raw(const char (&text)[N]) { return {text, N - 1}; }

// pickle.dumps({'a': [1, -2, 70000, 2**40, True, None, 2.5, 'é', b'\x00\xff', (3, 4)], 'b': {}}, protocol)
constexpr auto protocol2 =
    raw("\x80\x02}q\x00(X\x01\x00\x00\x00"
        "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffJp\x11\x01\x00\x8a\x06\x00\x00\x00"
        "\x00\x00\x01\x88NG@\x04\x00\x00\x00\x00\x00\x00X\x02\x00\x00\x00\xc3\xa9q\x03"
        "c_codecs\nencode\nq\x04"
        "X\x03\x00\x00\x00\x00\xc3\xbfq\x05X\x06\x00\x00\x00latin1q\x06\x86q\x07Rq\x08K\x03K\x04\x86q\x09"
        "eX"
        "\x01\x00\x00\x00"
        "bq\n}q\x0bu.");
constexpr auto protocol4 =
    raw("\x80\x04\x95"
        "B\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
        "a\x94]\x94(K\x01J\xfe\xff\xff\xffJp\x11\x01"
        "\x00\x8a\x06\x00\x00\x00\x00\x00\x01\x88NG@\x04\x00\x00\x00\x00\x00\x00\x8c\x02\xc3\xa9\x94"
        "C\x02\x00"
        "\xff\x94K\x03K\x04\x86\x94"
        "e\x8c\x01"
        "b\x94}\x94u.");
// pickle.dumps([numpy.array([[1, 2], [3, 4]], '>i2', order='F'), numpy.float32(1.5), numpy.int64(-7)], protocol)
constexpr auto arrays2 =
    raw("\x80\x02]q\x00(cnumpy.core.multiarray\n_reconstruct\nq\x01"
        "cnumpy\nndarray\nq\x02K\x00\x85q\x03"
        "c_"
        "codecs\nencode\nq\x04X\x01\x00\x00\x00"
        "bq\x05X\x06\x00\x00\x00latin1q\x06\x86q\x07Rq\x08\x87q\x09Rq"
        "\n(K\x01K\x02K\x02\x86q\x0b"
        "cnumpy\ndtype\nq\x0cX\x02\x00\x00\x00i2q\x0d\x89\x88\x87q\x0eRq\x0f(K\x03"
        "X\x01\x00\x00\x00>q\x10NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tq\x11"
        "b\x88h\x04X\x08\x00\x00\x00"
        "\x00\x01\x00\x03\x00\x02\x00\x04q\x12h\x06\x86q\x13Rq\x14tq\x15"
        "bcnumpy.core.multiarray\nscalar\nq\x16"
        "h\x0cX\x02\x00\x00\x00"
        "f4q\x17\x89\x88\x87q\x18Rq\x19(K\x03X\x01\x00\x00\x00<q\x1aNNNJ\xff\xff\xff\xff"
        "J\xff\xff\xff\xffK\x00tq\x1b"
        "bh\x04X\x05\x00\x00\x00\x00\x00\xc3\x80?q\x1ch\x06\x86q\x1dRq\x1e\x86q"
        "\x1fRq h\x16h\x0cX\x02\x00\x00\x00i8q!\x89\x88\x87q\"Rq#(K\x03h\x1aNNNJ\xff\xff\xff\xffJ\xff\xff\xff"
        "\xffK\x00tq$bh\x04X\x10\x00\x00\x00\xc3\xb9\xc3\xbf\xc3\xbf\xc3\xbf\xc3\xbf\xc3\xbf\xc3\xbf\xc3\xbfq"
        "%h\x06\x86q&Rq'\x86q(Rq)e.");
constexpr auto arrays5 =
    raw("\x80\x05\x95\n\x01\x00\x00\x00\x00\x00\x00]\x94(\x8c\x12numpy.core.numeric\x94\x8c\x0b_frombuffer\x94"
        "\x93\x94(\x96\x08\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x03\x00\x02\x00\x04\x94\x8c\x05numpy\x94\x8c"
        "\x05"
        "dtype\x94\x93\x94\x8c\x02i2\x94\x89\x88\x87\x94R\x94(K\x03\x8c\x01>\x94NNNJ\xff\xff\xff\xffJ\xff"
        "\xff\xff\xffK\x00t\x94"
        "bK\x02K\x02\x86\x94\x8c\x01"
        "F\x94t\x94R\x94\x8c\x15numpy.core.multiarray\x94"
        "\x8c\x06scalar\x94\x93\x94h\x07\x8c\x02"
        "f4\x94\x89\x88\x87\x94R\x94(K\x03\x8c\x01<\x94NNNJ\xff\xff\xff"
        "\xffJ\xff\xff\xff\xffK\x00t\x94"
        "bC\x04\x00\x00\xc0?\x94\x86\x94R\x94h\x13h\x07\x8c\x02i8\x94\x89\x88"
        "\x87\x94R\x94(K\x03h\x17NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t\x94"
        "bC\x08\xf9\xff\xff\xff\xff\xff"
        "\xff\xff\x94\x86\x94R\x94"
        "e.");
// numpy.array([[[1], 2], [None, 'x']], dtype=object)
constexpr auto objects3 =
    raw("\x80\x03"
        "cnumpy.core.multiarray\n_reconstruct\nq\x00"
        "cnumpy\nndarray\nq\x01K\x00\x85q\x02"
        "C\x01"
        ""
        "bq\x03\x87q\x04Rq\x05(K\x01K\x02K\x02\x86q\x06"
        "cnumpy\ndtype\nq\x07X\x02\x00\x00\x00O8q\x08\x89\x88"
        "\x87q\x09Rq\n(K\x03X\x01\x00\x00\x00|q\x0bNNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tq\x0c"
        "b\x89]q\x0d"
        "(]q\x0eK\x01"
        "aK\x02NX\x01\x00\x00\x00xq\x0f"
        "etq\x10"
        "b.");

TEST(Pickle, ReadsPlainData) {
  for (std::string_view bytes : {protocol2, protocol4}) {
    Pickled root = parse(bytes);
    EXPECT_EQ(root.kind(), Kind::dictionary);
    Pickled list = root.at("a");
    ASSERT_EQ(list.size(), 10);
    EXPECT_EQ(list[0].integer(), 1);
    EXPECT_EQ(list[1].integer(), -2);
    EXPECT_EQ(list[2].integer(), 70000);
    EXPECT_EQ(list[3].integer(), int64_t{1} << 40);
    EXPECT_EQ(list[4].kind(), Kind::boolean);
    EXPECT_EQ(list[4].integer(), 1);
    EXPECT_EQ(list[5].kind(), Kind::none);
    EXPECT_EQ(list[6].real(), 2.5);
    EXPECT_EQ(list[7].text(), "é");
    EXPECT_EQ(list[8].text(), std::string("\0\xff", 2));
    EXPECT_EQ(list[9][1].integer(), 4);
    EXPECT_EQ(root.at("b").kind(), Kind::dictionary);
    EXPECT_THROW(root.at("c"), NotFoundError);
    EXPECT_THROW(list[10], OutOfRangeError);
    EXPECT_THROW(list[0].text(), DataLossError);
    EXPECT_THROW(list[0][0], DataLossError);
  }
}

TEST(Pickle, ReadsArrays) {
  for (std::string_view bytes : {arrays2, arrays5}) {
    Pickled root = parse(bytes);
    const Tensor& array = root[0].array();
    EXPECT_EQ(array.dtype(), DType::int16);
    EXPECT_EQ(array.shape(), (Shape{2, 2}));
    EXPECT_EQ(array.data<int16_t>()[1], 2);
    EXPECT_EQ(array.data<int16_t>()[2], 3);
    EXPECT_EQ(root[1].real(), 1.5);
    EXPECT_EQ(root[2].integer(), -7);
  }
  Pickled objects = parse(objects3);
  EXPECT_EQ(objects.size(), 2);
  EXPECT_EQ(objects[0][0][0].integer(), 1);
  EXPECT_EQ(objects[1][1].text(), "x");
}

TEST(Pickle, RunsNothing) {
  for (std::string_view bytes :
       {raw("cposix\nsystem\n(U\x04trueltR."), raw("\x80\x04\x8c\x05posix\x8c\x06system\x93."), raw("cnumpy\nload\n."),
        raw("cnumpy\nndarray\n(K\x01tR."), raw("ibuiltins\nprint\n."),
        raw("\x80\x02"
            "c__builtin__\neval\n."),
        raw("(c_codecs\nencode\n."),
        raw("\x80\x02"
            "c_codecs\nencode\n(X\x01\x00\x00\x00xX\x05\x00\x00\x00rot13tR."),
        raw("]\x94N\x81."), raw("N}b."), raw("P1\n."), raw("\x82\x01."), raw("\x80\x63N."), raw("cnumpy\ndtype\n.")})
    EXPECT_THROW(parse(bytes), Error) << bytes;
}

TEST(Pickle, RefusesNonsense) {
  for (std::string_view bytes : {raw(""),
                                 raw("."),
                                 raw("K"),
                                 raw("K\x01"),
                                 raw("(."),
                                 raw("e."),
                                 raw("(e."),
                                 raw("K\x01K\x02"
                                     "a."),
                                 raw("}K\x01s."),
                                 raw("}(K\x01u."),
                                 raw("h\x05."),
                                 raw("q\x01."),
                                 raw("\x85."),
                                 raw("U\x05"
                                     "abc."),
                                 raw("X\xff\xff\xff\xff"
                                     "abc."),
                                 raw("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."),
                                 raw("I12x\n."),
                                 raw("I12"),
                                 raw("R."),
                                 raw("K\x01K\x02R."),
                                 raw("b."),
                                 raw("\x8a\x09"
                                     "123456789."),
                                 raw("\x93."),
                                 raw("(1."),
                                 raw("]("),
                                 raw("K\x01(\x85.")})
    EXPECT_THROW(parse(bytes), Error) << bytes;
  // Every cut of a sound pickle, and every byte of it turned over: an error, or a value.
  for (std::string_view bytes : {protocol2, protocol4, arrays2, arrays5, objects3}) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      EXPECT_THROW(parse(bytes.substr(0, i)), Error) << i;
      for (int mask : {0x01, 0x10, 0x80, 0xff}) {
        std::string changed(bytes);
        changed[i] = static_cast<char>(changed[i] ^ mask);
        try {
          parse(changed);
        } catch (const Error&) {}
      }
    }
  }
}

TEST(Pickle, BoundsWhatItMakes) {
  // A list that holds itself.
  Pickled loop =
      parse(raw("]q\x01h\x01"
                "a."));
  EXPECT_EQ(loop[0][0][0].size(), 1);
  // One text of 64 KB, turned into bytes a thousand times.
  std::string bomb("\x80\x02(X\x00\x00\x01\x00", 8);
  bomb += std::string(65536, 'x') + std::string("q\x01X\x06\x00\x00\x00latin1q\x02", 15);
  for (int i = 0; i < 1000; ++i) bomb += raw("c_codecs\nencode\nh\x01h\x02\x86R");
  EXPECT_THROW(parse(bomb + "l."), DataLossError);
  // An empty array of objects with a thousand million rows.
  std::string rows(objects3);
  EXPECT_NO_THROW(parse(rows));
  size_t shape = rows.find("K\x02K\x02\x86");
  ASSERT_NE(shape, std::string::npos);
  rows.replace(shape, 5, raw("J\x00\xca\x9a\x3bK\x00\x86"));
  EXPECT_THROW(parse(rows), DataLossError);
}

}  // namespace
}  // namespace thalweg::io
