use super::*;
use proptest::prelude::*;
use tilewright_model::Quantisation;

fn tensor(dims: &[usize]) -> Tensor {
    Tensor {
        name: "image".to_owned(),
        shape: Shape::new(dims),
        dtype: DType::F32,
        quantisation: None,
        source: None,
    }
}

fn png(width: u32, height: u32, colour: png::ColorType, pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.write_header().unwrap().write_image_data(pixels).unwrap();
    bytes
}

fn npy(kind: &str, shape: &str, body: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(body);
    bytes
}

/// As nobody says what is taken for pixels.
fn read(tensor: &Tensor, bytes: &[u8]) -> Result<Data, InputError> {
    super::read(tensor, None, bytes)
}

fn samples(tensor: &Tensor, bytes: &[u8]) -> Result<Vec<Data>, InputError> {
    super::samples(tensor, None, bytes)
}

fn several(tensors: &[Tensor], bytes: &[u8]) -> Result<Vec<Data>, InputError> {
    super::several(tensors, None, bytes)
}

fn floats(data: Data) -> Vec<f32> {
    data.as_f32().unwrap().to_vec()
}

#[test]
fn inputs_are_finite() {
    for (value, word) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")] {
        let body: Vec<u8> = [0.5, value].iter().flat_map(|value| value.to_le_bytes()).collect();
        let bytes = npy("<f4", "(1, 2)", &body);
        let int8 = Tensor {
            dtype: DType::I8,
            quantisation: Some(Quantisation::per_tensor(0.1, 0)),
            ..tensor(&[1, 2])
        };
        for tensor in [tensor(&[1, 2]), int8] {
            let refused = InputError::NotFinite { index: 1, value: word.to_owned() };
            assert_eq!(read(&tensor, &bytes).unwrap_err(), refused);
            assert_eq!(samples(&tensor, &bytes).unwrap_err(), refused);
        }
    }
}

#[test]
fn a_small_picture_is_centred() {
    let bytes = png(1, 2, png::ColorType::Grayscale, &[255, 51]);
    let values = floats(read(&tensor(&[1, 4, 3, 1]), &bytes).unwrap());
    assert_eq!(values, [0., 0., 0., 0., 1., 0., 0., 0.2, 0., 0., 0., 0.]);
}

#[test]
fn colours_become_the_channels_taken() {
    let rgba = png(1, 1, png::ColorType::Rgba, &[255, 0, 51, 128]);
    assert_eq!(floats(read(&tensor(&[1, 1, 1, 3]), &rgba).unwrap()), [1.0, 0.0, 0.2]);
    let grey = floats(read(&tensor(&[1, 1, 1, 1]), &rgba).unwrap());
    assert!((grey[0] - (0.299 + 0.114 * 0.2)).abs() < 1e-6);
    let bytes = png(1, 1, png::ColorType::GrayscaleAlpha, &[51, 9]);
    assert_eq!(floats(read(&tensor(&[1, 1, 1, 3]), &bytes).unwrap()), [0.2; 3]);
}

#[test]
fn other_sizes_are_resized() {
    let pixels: Vec<u8> = (0..20 * 20).map(|i| if i % 20 < 10 { 0 } else { 255 }).collect();
    let bytes = png(20, 20, png::ColorType::Grayscale, &pixels);
    let values = floats(read(&tensor(&[1, 2, 4, 1]), &bytes).unwrap());
    let expected = [0., 0., 1., 1., 0., 0., 1., 1.];
    assert!(values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{values:?}");
    let values = floats(read(&tensor(&[1, 40, 40, 1]), &bytes).unwrap());
    assert_eq!((values.len(), values[0], values[39]), (1600, 0.0, 1.0));
    assert!(values[19] > 0.0 && values[19] < 0.5, "linear between pixels: {}", values[19]);
}

#[test]
fn pictures_that_grow_out_of_bounds_are_refused() {
    let long = png(1, 1 << 17, png::ColorType::Grayscale, &vec![0; 1 << 17]);
    let tall = png(1, 1 << 16, png::ColorType::Grayscale, &vec![0; 1 << 16]);
    for (picture, dims) in [(long, [1, 32, 32, 1]), (tall, [1, 1, 1 << 12, 3])] {
        let refused = read(&tensor(&dims), &picture).unwrap_err();
        assert_eq!(refused, InputError::Picture("it is too large".to_owned()));
    }
}

#[test]
fn quantised_inputs_come_quantised() {
    let mut image = tensor(&[1, 1, 2, 1]);
    image.dtype = DType::I8;
    image.quantisation = Some(Quantisation::per_tensor(1.0 / 255.0, -128));
    let bytes = png(2, 1, png::ColorType::Grayscale, &[255, 3]);
    assert_eq!(read(&image, &bytes).unwrap(), Data::I8(vec![127, -125]));
    assert_eq!(read(&image, &[0x80, 0x7f]).unwrap(), Data::I8(vec![-128, 127]));
    assert_eq!(read(&image, &npy("|u1", "(2,)", &[0, 255])).unwrap(), Data::I8(vec![-128, 127]));
    assert_eq!(read(&image, &npy("|i1", "(2,)", &[0, 255])).unwrap(), Data::I8(vec![0, -1]));
    assert_eq!(read(&image, b"xyz").unwrap_err(), InputError::Unknown(2));
}

#[test]
fn arrays_of_samples_and_channels_first() {
    let image = tensor(&[1, 1, 2, 2]);
    let body: Vec<u8> = (0..8).flat_map(|v| (v as f32).to_le_bytes()).collect();
    let all = samples(&image, &npy("<f4", "(2, 1, 2, 2)", &body)).unwrap();
    let all: Vec<Vec<f32>> = all.into_iter().map(floats).collect();
    assert_eq!(all, [[0., 1., 2., 3.], [4., 5., 6., 7.]]);
    let turned = samples(&image, &npy("<f4", "(2, 2, 1, 2)", &body)).unwrap();
    assert_eq!(floats(turned[0].clone()), [0., 2., 1., 3.]);
    assert!(matches!(
        samples(&tensor(&[1, 3]), &npy("<f4", "(8,)", &body)),
        Err(InputError::Mismatch { .. })
    ));
    assert!(matches!(parse_npy(&npy("<c8", "(1,)", &[0; 8])), Err(NpyError::Unsupported(_))));
    let wide = parse_npy(&npy("<i8", "(1,)", &(-3i64).to_le_bytes())).unwrap();
    assert_eq!(wide.values, NpyValues::F32(vec![-3.0]));
    assert!(matches!(
        parse_npy(&npy("|u1", "(18446744073709551615, 3)", &[0; 8])),
        Err(NpyError::Damaged(_))
    ));
}

#[test]
fn pictures_of_another_size_are_no_samples_even_if_their_bytes_would_do() {
    // 64 pictures of 2 × 2 have as many bytes as 16 of 4 × 4.
    let bytes = npy("|u1", "(64, 2, 2, 1)", &[0; 256]);
    assert!(matches!(samples(&tensor(&[1, 4, 4, 1]), &bytes), Err(InputError::Mismatch { .. })));
    assert_eq!(samples(&tensor(&[1, 2, 2, 1]), &bytes).map(|all| all.len()), Ok(64));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn damaged_files_are_refused_without_a_panic(at in 0usize..200, value: u8, cut in 0usize..200) {
        let image = tensor(&[1, 4, 4, 1]);
        let picture = png(3, 3, png::ColorType::Grayscale, &[7; 9]);
        for mut bytes in [picture, npy("|u1", "(4, 4)", &[0; 16])] {
            let at = at % bytes.len();
            bytes[at] = value;
            let _ = read(&image, &bytes);
            bytes.truncate(cut);
            let _ = read(&image, &bytes);
        }
    }
}

/// An archive of array files.
fn npz(files: &[(&str, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn an_archive_gives_the_array_of_the_name_or_the_first_that_fits() {
    let array = |value: f32, count: usize| {
        npy("<f4", &format!("({count},)"), &value.to_le_bytes().repeat(count))
    };
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let two = npz(&[("labels.npy", array(9.0, 3)), ("x.npy", array(0.5, 4))], method);
        assert_eq!(floats(read(&tensor(&[1, 4]), &two).unwrap()), [0.5; 4]);
        let named = npz(&[("x.npy", array(0.5, 4)), ("image.npy", array(0.25, 4))], method);
        assert_eq!(floats(read(&tensor(&[1, 4]), &named).unwrap()), [0.25; 4]);
        let both = several(&[tensor(&[1, 4]), tensor(&[1, 4])], &named).unwrap();
        assert_eq!(both.len(), 2);
        assert!(several(&vec![tensor(&[1, 4]); 3], &two).is_err());
    }
    let none = npz(&[("readme.txt", b"words".to_vec())], zip::CompressionMethod::Stored);
    assert!(matches!(read(&tensor(&[1, 4]), &none), Err(InputError::Npy(_))));
    assert!(matches!(read(&tensor(&[1, 4]), b"PK\x03\x04 and so on"), Err(InputError::Archive(_))));
}

#[test]
fn what_an_archive_unpacks_to_is_bounded() {
    let zeros = npy("|u1", "(270000000,)", &vec![0; 270_000_000]);
    let bomb = npz(&[("x.npy", zeros)], zip::CompressionMethod::Deflated);
    assert!(bomb.len() < 1 << 20);
    let Err(InputError::Archive(error)) = read(&tensor(&[1, 4]), &bomb) else { panic!("taken") };
    assert!(error.contains("256 MiB"), "{error}");
}

#[test]
fn pictures_use_the_range_that_int8_stands_for() {
    let bytes = png(2, 1, png::ColorType::Grayscale, &[255, 51]);
    let image = |scale: f32, zero: i32| Tensor {
        dtype: DType::I8,
        quantisation: Some(Quantisation::per_tensor(scale, zero)),
        ..tensor(&[1, 1, 2, 1])
    };
    for (scale, zero) in [(1.0 / 127.5, 0), (1.0, -128), (0.018, -14), (1.0 / 255.0, -128)] {
        let data = read(&image(scale, zero), &bytes).unwrap();
        assert_eq!(data, Data::I8(vec![127, -77]), "scale {scale}");
    }
    // Calibrated on dark pictures.
    assert_eq!(read(&image(0.5 / 255.0, -128), &bytes).unwrap(), Data::I8(vec![127, -26]));
}

#[test]
fn pixels_are_what_somebody_said() {
    let colours = tensor(&[1, 1, 1, 3]);
    let pixels: Pixels = "0,100,127.5/1,155,127.5".parse().unwrap();
    let picture = png(1, 1, png::ColorType::Rgb, &[7, 255, 0]);
    let taken = |tensor: &Tensor, bytes: &[u8]| super::read(tensor, Some(&pixels), bytes).unwrap();
    assert_eq!(floats(taken(&colours, &picture)), [7.0, 1.0, -1.0]);
    let bytes = npy("|u1", "(1, 1, 1, 3)", &[7, 255, 0]);
    assert_eq!(floats(taken(&colours, &bytes)), [7.0, 1.0, -1.0]);
    let reals = npy("<f4", "(1, 1, 1, 3)", &[0.5f32; 3].map(f32::to_le_bytes).concat());
    assert_eq!(floats(taken(&colours, &reals)), [0.5; 3], "reals are as they are");
    // Not all of int8, as without a word: what the words come to.
    let quantisation = Some(Quantisation::per_tensor(0.1, 0));
    let int8 = Tensor { dtype: DType::I8, quantisation, ..colours };
    assert_eq!(taken(&int8, &picture), Data::I8(vec![70, 10, -10]));
}
